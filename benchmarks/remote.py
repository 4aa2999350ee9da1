"""The command ``python -m benchmarks.remote``: object stores with network latency.

A server of S3 on the loopback interface, and a proxy that lets each request wait, both in
processes of their own, started as the tests start them.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import sys
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchmarks.report import as_markdown, as_text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers.proxy import Proxy  # type: ignore[import-not-found]  # beside the tests
from servers.s3_server import (  # type: ignore[import-not-found]  # beside the tests
    MotoServer,
    SeaweedServer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OURS = "zarr-core"
CHUNKS = 1000
SHAPE = (CHUNKS, 64, 128)
SHARDED = (1000, 128, 128)
SERVERS = {"seaweed": SeaweedServer, "moto": MotoServer}


class Peer(Protocol):
    """A library that reads the common hierarchies.

    Operations that a library does not support are omitted.
    """

    name: str

    def open(self, path: str) -> Any: ...
    def read(self, array: Any, selection: Any) -> np.ndarray: ...
    def write(self, array: Any, values: np.ndarray) -> None: ...
    def walk(self, path: str) -> int: ...


class _Service:
    """How to reach the bucket."""

    def __init__(self, server: MotoServer | SeaweedServer, url: str) -> None:
        self.server, self.url = server, url

    def obstore(self) -> Any:
        from obstore.store import S3Store

        server = self.server
        return S3Store(
            server.bucket,
            endpoint=self.url,
            region=server.region,
            access_key_id=server.access_key,
            secret_access_key=server.secret_key,
            client_options={"allow_http": True},
        )


class Ours:
    name = OURS

    def __init__(self, service: _Service) -> None:
        from zarr_stores.object import ObjectStore

        self.store = ObjectStore(service.obstore())

    def open(self, path: str) -> Any:
        import zarr_core

        return zarr_core.open_array(self.store, path=path)

    def read(self, array: Any, selection: Any) -> np.ndarray:
        values: np.ndarray = array[selection]
        return values

    def write(self, array: Any, values: np.ndarray) -> None:
        array[...] = values

    def walk(self, path: str) -> int:
        import zarr_core

        group = zarr_core.open_group(self.store, path=path, mode="r", use_consolidated=False)
        return len(list(group.members(max_depth=None)))


class ZarrPython:
    def __init__(self, service: _Service, kind: str, requests: int | None) -> None:
        import zarr
        from zarr.storage import FsspecStore, ObjectStore

        self.name = f"zarr+{kind}" + (f" {requests}" if requests else "")
        self.settings = {"async.concurrency": requests} if requests else {}
        self.config = zarr.config
        server = service.server
        self.store: Any = (
            ObjectStore(service.obstore())
            if kind == "obstore"
            else FsspecStore.from_url(
                f"s3://{server.bucket}",
                storage_options={
                    "key": server.access_key,
                    "secret": server.secret_key,
                    "endpoint_url": service.url,
                    "client_kwargs": {"region_name": server.region},
                    "use_listings_cache": False,
                },
            )
        )

    def open(self, path: str) -> Any:
        import zarr

        return zarr.open_array(self.store, path=path, mode="r+")

    def read(self, array: Any, selection: Any) -> np.ndarray:
        with self.config.set(self.settings):
            values: np.ndarray = array[selection]
            return values

    def write(self, array: Any, values: np.ndarray) -> None:
        with self.config.set(self.settings):
            array[...] = values

    def walk(self, path: str) -> int:
        import zarr

        with self.config.set(self.settings):
            group = zarr.open_group(self.store, path=path, mode="r", use_consolidated=False)
            return len(list(group.members(max_depth=None)))


class TensorStore:
    walk = None

    def __init__(self, service: _Service, requests: int | None) -> None:
        self.name = "tensorstore" + (f" {requests}" if requests else "")
        server = service.server
        os.environ.update(
            AWS_ACCESS_KEY_ID=server.access_key, AWS_SECRET_ACCESS_KEY=server.secret_key
        )
        self.context = {"s3_request_concurrency": {"limit": requests}} if requests else {}
        self.store = {
            "driver": "s3",
            "bucket": server.bucket,
            "endpoint": service.url,
            "aws_region": server.region,
            "aws_credentials": {"type": "environment"},
        }

    def open(self, path: str) -> Any:
        import tensorstore

        spec = {"driver": "zarr3", "kvstore": {**self.store, "path": f"{path}/"}}
        return tensorstore.open({**spec, "context": self.context}).result()

    def read(self, array: Any, selection: Any) -> np.ndarray:
        values: np.ndarray = array[selection].read().result()
        return values

    def write(self, array: Any, values: np.ndarray) -> None:
        array.write(values).result()


def _peers(service: _Service, tuned: int) -> list[Any]:
    """Return the installed libraries, with defaults and with `tuned` concurrent requests."""
    makers: list[Callable[[], Any]] = [partial(Ours, service)]
    for requests in (None, tuned):
        makers += [
            partial(ZarrPython, service, "obstore", requests),
            partial(ZarrPython, service, "s3fs", requests),
            partial(TensorStore, service, requests),
        ]
    peers = []
    for make in makers:
        try:
            peers.append(make())
        except ImportError as error:
            print(f"without {error.name}: {error}", file=sys.stderr)
    return peers


# --- data ---


def _field(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(5).normal(size=shape).round(1).astype("float32")


def _fill(store: Any) -> None:
    """Write the common hierarchies, without latency."""
    import zarr_core

    zarr_core.create_array(
        store, path="plain", data=_field(SHAPE), chunks=(1, *SHAPE[1:]), compressors=["zstd"]
    )
    zarr_core.create_array(
        store, path="sharded", data=_field(SHARDED), chunks=(10, 64, 64), shards=SHARDED,
        compressors=["zstd"],
    )  # fmt: skip
    for name in ("written", "one"):
        zarr_core.create_array(
            store, path=name, shape=SHAPE, dtype="float32", chunks=(1, *SHAPE[1:]),
            compressors=["zstd"],
        )  # fmt: skip
    root = zarr_core.create_group(store, path="tree")
    for outer in range(9):
        group = root.create_group(f"group{outer}")
        for inner in range(110):
            group.create_array(f"array{inner}", shape=(10,), dtype="int16")


def _cases(values: np.ndarray, sharded: np.ndarray) -> dict[str, tuple[float | None, Any]]:
    """Return the limit of the ratio to the best library and the operation of each case."""

    def read(path: str, selection: Any, expected: np.ndarray) -> Any:
        def ready(peer: Any) -> Any:
            array = peer.open(path)

            def once() -> None:
                assert np.array_equal(peer.read(array, selection), expected[selection])

            return once

        return ready

    def write(peer: Any) -> Any:
        array = peer.open("written")
        return lambda: peer.write(array, values)

    def walk(peer: Any) -> Any:
        if peer.walk is None:
            return None

        def once() -> None:
            assert peer.walk("tree") == 999

        return once

    return {
        f"read {CHUNKS} chunks": (1.2, read("plain", np.s_[...], values)),
        "read one chunk": (1.2, read("plain", np.s_[7:8], values)),
        "read a line through a shard": (1.2, read("sharded", np.s_[:, 5, 100], sharded)),
        "read a shard": (1.2, read("sharded", np.s_[...], sharded)),
        f"write {CHUNKS} chunks": (1.2, write),
        "open an array": (None, lambda peer: lambda: peer.open("plain")),
        "walk 1,000 nodes": (0.5, walk),
    }


# --- measuring ---


@contextlib.contextmanager
def _served(kind: str, latency: float) -> Iterator[tuple[_Service, Proxy]]:
    server = SERVERS[kind]()
    reason = server.missing()
    if reason:
        raise SystemExit(reason)
    try:
        server.start()
        _fill(Ours(_Service(server, server.url)).store)
        with Proxy(server.port) as proxy:
            proxy.set_latency(latency)
            yield _Service(server, proxy.url), proxy
    finally:
        server.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.remote", description=__doc__)
    parser.add_argument("--latency", type=float, default=0.02, help="seconds a request (0.02)")
    parser.add_argument("--rounds", type=int, default=3, help="samples of each library (3)")
    parser.add_argument("--server", choices=SERVERS, default="seaweed")
    parser.add_argument(
        "--requests", type=int, default=256, help="concurrent requests of tuned peers (256)"
    )
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--markdown", type=Path, help="write the table as Markdown, too")
    return parser.parse_args()


def main() -> None:
    options = _arguments()
    rows: list[list[str]] = []
    verdicts: list[str] = []
    with _served(options.server, options.latency) as (service, proxy):
        peers = _peers(service, options.requests)
        others = [peer.name for peer in peers if peer.name != OURS]
        rows.append(["case", "ours", "requests", "concurrent", *others])
        for name, (limit, ready) in _cases(_field(SHAPE), _field(SHARDED)).items():
            if options.only not in name:
                continue
            work = {peer.name: once for peer in peers if (once := ready(peer)) is not None}
            samples: dict[str, list[float]] = {peer: [] for peer in work}
            for once in work.values():  # also starts threads, opens connections
                once()
            names = list(work)
            for turn in range(options.rounds):
                start = turn % len(names)
                for peer in names[start:] + names[:start]:
                    begin = time.perf_counter()
                    work[peer]()
                    samples[peer].append(time.perf_counter() - begin)
            proxy.forget()
            work[OURS]()
            traffic = proxy.traffic
            ratios = {
                peer: statistics.median(
                    a / b for a, b in zip(samples[OURS], samples[peer], strict=True)
                )
                for peer in others
                if peer in work
            }
            cells = [f"{ratios[peer]:.2f}" if peer in ratios else "-" for peer in others]
            ours = f"{statistics.median(samples[OURS]) * 1e3:.0f} ms"
            rows.append([name, ours, str(traffic.requests), str(traffic.most_concurrent), *cells])
            tuned = {peer for peer in ratios if peer.endswith(f" {options.requests}")}
            if limit and ratios:
                usual = {peer: ratio for peer, ratio in ratios.items() if peer not in tuned}
                best = max(usual, key=lambda peer: usual[peer])
                kept = "kept" if usual[best] <= limit else "NOT KEPT"
                line = f"{name}: {usual[best]:.2f} of {best}, limit {limit}: {kept}"
                most = max(ratios[peer] for peer in tuned) if tuned else 0
                verdicts.append(f"{line}; with {options.requests} concurrent requests: {most:.2f}")
    print(as_text(rows))
    print(*verdicts, sep="\n")
    used = ("zarr-core", "zarr", "tensorstore", "obstore", "s3fs")
    line = f"{options.latency * 1e3:g} ms a request, {options.rounds} rounds; " + ", ".join(
        f"{name} {version(name)}" for name in used
    )
    print(line)
    if options.markdown:
        options.markdown.write_text("\n".join([as_markdown(rows), "", *verdicts, "", line, ""]))


if __name__ == "__main__":
    main()
