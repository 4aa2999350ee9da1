"""The command ``python -m benchmarks.clouds``: common operations in a bucket with latency.

The operations of the table of requests in ``docs/clouds.md``, compared with other libraries that may
send as many concurrent requests.  The libraries take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import statistics
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.remote import SERVERS, Ours, TensorStore, ZarrPython, _Service
from benchmarks.report import as_markdown, as_text

import request_counts  # type: ignore[import-not-found]  # isort: skip - beside the tests
from servers.proxy import Proxy  # type: ignore[import-not-found]  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHUNKS = request_counts.CHUNKS
MEMBERS = request_counts.MEMBERS
WINDOW = request_counts.WINDOW
SHAPE = (CHUNKS, *request_counts.CHUNK)
_numbers = itertools.count()


class OursInClouds(Ours):
    """Operations of this library beyond those of ``benchmarks.remote``."""

    def members(self, path: str, consolidated: bool) -> int:
        import zarr_core

        group = zarr_core.open_group(
            self.store, path=path, mode="r", use_consolidated=consolidated or False
        )
        return len(group.members())

    def load(self) -> Any:
        import xarray

        store: Any = self.store
        return xarray.open_dataset(store, group="dataset", engine="zarr_core").load()

    def copy(self, local: Path) -> None:
        import zarr_core
        from zarr_transfer import copy

        copy(zarr_core.open_array(local, mode="r"), self.store, f"copy{next(_numbers)}")


class ZarrPythonInClouds(ZarrPython):
    """The same with zarr-python."""

    def members(self, path: str, consolidated: bool) -> int:
        import zarr

        with self.config.set(self.settings):
            group = zarr.open_group(self.store, path=path, mode="r", use_consolidated=consolidated)
            return len(list(group.members()))

    def load(self) -> Any:
        import xarray

        with self.config.set(self.settings):
            opened = xarray.open_zarr(self.store, group="dataset", consolidated=True, chunks=None)
            return opened.load()

    def copy(self, local: Path) -> None:
        import zarr

        with self.config.set(self.settings):
            source = zarr.open_array(str(local), mode="r")
            values: Any = source[...]
            zarr.create_array(
                self.store, name=f"copy{next(_numbers)}", data=values, chunks=source.chunks,
                compressors=source.compressors,
            )  # fmt: skip


class ZarristaInClouds:
    """The same with zarrista, chunk by chunk, as its calls send no more requests than processors."""

    load = None

    def __init__(self, service: _Service, requests: int) -> None:
        import zarrista

        self.name = f"zarrista {requests}"
        self._zarrista = zarrista
        self._requests = requests
        self._loop = asyncio.new_event_loop()
        self.store = service.obstore()

    def _run(self, call: Callable[..., Any], *arguments: Any) -> Any:
        async def awaited() -> Any:  # its calls require a running loop
            return await call(*arguments)

        return self._loop.run_until_complete(awaited())

    def _each(self, work: Callable[[int], Any], count: int) -> list[Any]:
        async def all_() -> list[Any]:
            allowed = asyncio.Semaphore(self._requests)

            async def one(number: int) -> Any:
                async with allowed:
                    return await work(number)

            return await asyncio.gather(*map(one, range(count)))

        found: list[Any] = self._loop.run_until_complete(all_())
        return found

    def open(self, path: str) -> Any:
        return self._run(self._zarrista.AsyncArray.open, self.store, f"/{path}")

    def read(self, array: Any, selection: Any) -> Any:
        if selection is not ...:
            return self._run(array.retrieve_array_subset, selection).to_numpy()
        out = np.empty(array.shape, "float32")

        async def chunk(number: int) -> None:
            found = await array.retrieve_chunk([number, 0, 0])
            out[number : number + 1] = found.to_numpy()

        self._each(chunk, len(out))
        return out

    def write(self, array: Any, values: np.ndarray) -> None:
        async def chunk(number: int) -> None:
            await array.store_chunks(number, values[number : number + 1])

        self._each(chunk, len(values))

    def members(self, path: str, consolidated: bool) -> int:
        # It does not use consolidated metadata.
        group = self._run(self._zarrista.AsyncGroup.open, self.store, f"/{path}")
        return len(self._run(group.child_arrays))

    def copy(self, local: Path) -> None:
        source = self._zarrista.Array.open(self._zarrista.store.FilesystemStore(str(local)))
        values = source.retrieve_array_subset(...).to_numpy()
        made = self._zarrista.AsyncArray.from_metadata(
            source.metadata, self.store, f"/copy{next(_numbers)}"
        )
        self._run(made.store_metadata)
        self.write(made, values)


class TensorStoreInClouds(TensorStore):
    """The same with TensorStore, which has no groups."""

    members = load = None

    def copy(self, local: Path) -> None:
        import tensorstore

        kvstore = {"driver": "file", "path": f"{local}/"}
        source = tensorstore.open({"driver": "zarr3", "kvstore": kvstore}).result()
        spec = {
            "driver": "zarr3",
            "kvstore": {**self.store, "path": f"copy{next(_numbers)}/"},
            "context": self.context,
        }
        made = tensorstore.open(spec, create=True, schema=source.schema).result()
        made.write(source).result()


def _peers(service: _Service, requests: int) -> list[Any]:
    peers: list[Any] = [
        OursInClouds(service),
        ZarrPythonInClouds(service, "obstore", requests),
        TensorStoreInClouds(service, None),
        TensorStoreInClouds(service, requests),
    ]
    if find_spec("zarrista") is not None:  # requires Python 3.12
        peers.append(ZarristaInClouds(service, requests))
    return peers


def _cases(local: Path) -> dict[str, Callable[[Any], Callable[[], Any] | None]]:
    """Return for each case a function that prepares the operation of a library."""
    values = request_counts.field(SHAPE)
    sharded = request_counts.field(request_counts.SHARD)

    def read(peer: Any) -> Callable[[], None]:
        array = peer.open("plain")

        def once() -> None:
            assert np.array_equal(peer.read(array, np.s_[...]), values)

        return once

    def window(again: bool) -> Callable[[Any], Callable[[], None]]:
        def ready(peer: Any) -> Callable[[], None]:
            array = peer.open("sharded")

            def once() -> None:
                if isinstance(peer, OursInClouds) and not again:
                    peer.store.discard_cached("sharded/c/0/0")  # which keeps the index
                assert np.array_equal(peer.read(array, WINDOW), sharded[WINDOW])

            return once

        return ready

    def write(peer: Any) -> Callable[[], None]:
        array = peer.open("written")
        return lambda: peer.write(array, values)

    def members(path: str, consolidated: bool) -> Callable[[Any], Callable[[], None] | None]:
        def ready(peer: Any) -> Callable[[], None] | None:
            if peer.members is None:
                return None

            def once() -> None:
                assert peer.members(path, consolidated) == MEMBERS

            return once

        return ready

    return {
        "open an array": lambda peer: lambda: peer.open("plain"),
        f"open {MEMBERS} arrays with consolidated metadata": members("consolidated", True),
        f"open {MEMBERS} arrays without it": members("listed", False),
        f"read {CHUNKS} chunks": read,
        "read a window of a shard": window(again=False),
        "read a window of a shard again": window(again=True),
        f"write {CHUNKS} chunks": write,
        "open with xarray, and load": lambda peer: peer.load,
        f"copy {CHUNKS} chunks from a directory": lambda peer: lambda: peer.copy(local),
    }


@contextlib.contextmanager
def _served(kind: str) -> Iterator[tuple[_Service, Proxy, Path]]:
    import zarr_core

    server = SERVERS[kind]()
    if reason := server.missing():
        raise SystemExit(reason)
    try:
        server.start()
        store = Ours(_Service(server, server.url)).store
        request_counts.fill(store)
        values = request_counts.field(SHAPE)
        options: Any = {"chunks": (1, *SHAPE[1:]), "compressors": ["zstd"]}
        zarr_core.create_array(store, path="written", shape=SHAPE, dtype="float32", **options)
        local = server.data / "local"
        zarr_core.create_array(local, data=values, **options)
        with Proxy(server.port) as proxy:
            yield _Service(server, proxy.url), proxy, local
    finally:
        server.close()


def _measure(work: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Return the times of each library; the order rotates."""
    samples: dict[str, list[float]] = {name: [] for name in work}
    for once in work.values():  # imports modules, opens connections
        once()
    names = list(work)
    for turn in range(rounds):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            begin = time.perf_counter()
            work[name]()
            samples[name].append(time.perf_counter() - begin)
    return samples


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clouds", description=__doc__)
    parser.add_argument("--latency", type=float, nargs="+", default=[0.02, 0.1], help="seconds")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each library (5)")
    parser.add_argument("--server", choices=SERVERS, default="seaweed")
    parser.add_argument("--requests", type=int, default=256, help="concurrent requests (256)")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--markdown", type=Path, help="write the table as Markdown, too")
    options = parser.parse_args()
    rows: list[list[str]] = []
    with _served(options.server) as (service, proxy, local):
        ours, *others = _peers(service, options.requests)
        rows.append(["latency", "case", "ours", *(peer.name for peer in others), "to the best"])
        for latency in options.latency:
            for name, ready in _cases(local).items():
                if options.only not in name:
                    continue
                proxy.set_latency(0)
                work = {
                    peer.name: once for peer in (ours, *others) if (once := ready(peer)) is not None
                }
                proxy.set_latency(latency)
                samples = _measure(work, options.rounds)
                mine = samples.pop(ours.name)
                ratios = {
                    peer: statistics.median(a / b for a, b in zip(mine, theirs, strict=True))
                    for peer, theirs in samples.items()
                }
                cells = [
                    f"{ratios[peer.name]:.2f}" if peer.name in ratios else "-" for peer in others
                ]
                time_ = f"{statistics.median(mine) * 1e3:.0f} ms"
                worst = f"{max(ratios.values()):.2f}"
                rows.append([f"{latency * 1e3:g} ms", name, time_, *cells, worst])
                print(*rows[-1], sep=" | ", flush=True)
    libraries = ("zarr-core", "zarr", "tensorstore", "zarrista", "obstore", "xarray")
    used = [name for name in libraries if name != "zarrista" or find_spec(name) is not None]
    line = f"{options.rounds} rounds; " + ", ".join(f"{name} {version(name)}" for name in used)
    print(as_text(rows), line, sep="\n")
    if options.markdown:
        options.markdown.write_text("\n".join([as_markdown(rows), "", line, ""]))


if __name__ == "__main__":
    main()
