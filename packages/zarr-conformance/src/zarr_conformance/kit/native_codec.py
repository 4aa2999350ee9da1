"""Codecs from bytes to bytes with C functions; see ``zarr_codec.h`` of zarr-native."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.extension import ChunkDecodeError

from zarr_conformance.kit.bytes_to_bytes import BytesToBytesCodecTests
from zarr_conformance.kit.codec import switching_often
from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.junk import damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import TypeAlias

    Note: TypeAlias = Callable[[str], None]


class NativeCodecTests(BytesToBytesCodecTests):
    """Inherit from this to test a codec from bytes to bytes with a native form.

    The native form and the Python methods must agree: what one encodes, the other decodes, and what
    Python refuses is not decoded.  A configuration whose ``__zarr_codec_v1__`` returns None has no
    native form, and is tested in Python alone.

    Examples
    --------
    >>> class TestInvert(NativeCodecTests):
    ...     name = "acme.invert"
    ...     configurations = [{}]
    """

    def test_native_round_trip(self, configuration: Mapping[str, Any]) -> None:
        """Python and the native form decode what the other encoded."""
        native, codec = self._native(configuration)

        def work(note: Note) -> None:
            def check(content: bytes) -> None:
                note(f"{len(content)} bytes")
                capsule = codec.__zarr_codec_v1__(len(content))
                encoded = bytes(codec.encode(content, len(content)))
                decoded = native.decode(capsule, encoded, len(content))
                assert decoded in (content, None), "the native form decodes something else"
                by_native = native.encode(capsule, content)
                if by_native is None:
                    return
                size = codec.encoded_size(len(content))
                assert size is None or len(by_native) == size, "encoded_size promises another size"
                assert bytes(codec.decode(by_native, len(content))) == content, (
                    "Python does not decode what the native form encoded"
                )
                again = native.decode(capsule, by_native, len(content))
                assert again == content or not content, "it does not decode its own bytes"

            check_examples(check, self.contents(configuration), self.examples)

        _in_a_child(work)

    def test_native_form_does_something(self, configuration: Mapping[str, Any]) -> None:
        """Not all is left to Python."""
        native, codec = self._native(configuration)

        def work(note: Note) -> None:
            done = [
                (native.encode(capsule, content), native.decode(capsule, encoded, len(content)))
                for content, encoded, capsule in self._samples(configuration, codec)
            ]
            assert any(encoded is not None for encoded, _ in done), "it encodes nothing"
            assert any(decoded is not None for _, decoded in done), "it decodes nothing"

        _in_a_child(work)

    def test_native_bounds(self, configuration: Mapping[str, Any]) -> None:
        """Too little room, or bytes after the end, are left to Python; nothing else is written."""
        native, codec = self._native(configuration)

        def work(note: Note) -> None:
            for content, encoded, capsule in self._samples(configuration, codec):
                size = len(content)
                for room in {0, 1, size // 2, size - 1} - {size, -1}:
                    note(f"{size} bytes, room for {room}")
                    decoded = native.decode(capsule, encoded, room)
                    assert decoded is None or not size, "more is decoded than there is room for"
                note(f"{size} bytes, encoded twice")
                decoded = native.decode(capsule, encoded + encoded, size)
                assert decoded is None or not size, "bytes after the end are not noticed"

        _in_a_child(work)

    def test_native_hostile_input(self, configuration: Mapping[str, Any]) -> None:
        """Damaged bytes never end the process, and never decode to something that Python refuses.

        Bytes behind the buffers cannot be used: a process that reads or writes them ends.
        """
        native, codec = self._native(configuration)

        def work(note: Note) -> None:
            for content, encoded, capsule in self._samples(configuration, codec):
                size = len(content)
                for what, data in damaged(encoded):
                    for room in (size, size + 1, 2 * size + 64):
                        note(f"{what}, {size} bytes, room for {room}")
                        decoded = native.decode(capsule, data, room)
                        if decoded is not None and len(decoded) == room == size:
                            assert decoded == _decoded(codec, data, room), (
                                "Python does not decode it so"
                            )

        _in_a_child(work)

    def test_native_thread_safety(self, configuration: Mapping[str, Any]) -> None:
        """Many threads use one native form at once."""
        native, codec = self._native(configuration)

        def work(note: Note) -> None:
            samples = list(self._samples(configuration, codec))
            for start in range(4):  # so large that calls overlap
                content = bytes(range(start, 256)) * 400
                encoded = bytes(codec.encode(content, len(content)))
                samples.append((content, encoded, codec.__zarr_codec_v1__(len(content))))

            def use(case: tuple[bytes, bytes, Any]) -> bool:
                content, encoded, capsule = case
                first = native.encode(capsule, content)
                return all(
                    native.decode(capsule, encoded, len(content)) in (content, None)
                    and native.encode(capsule, content) == first
                    for _ in range(10)
                )

            with switching_often(), ThreadPoolExecutor(8) as pool:
                assert all(pool.map(use, samples * 4)), "chunks were mixed up between threads"

        _in_a_child(work)

    def test_native_arrays(self, configuration: Mapping[str, Any], tmp_path: Path) -> None:
        """Arrays are read and written natively, and have the same elements as in Python."""
        native, _ = self._native(configuration)
        data = np.arange(4096, dtype="int32").reshape(64, 64) % 50
        for shards in (None, (32, 32)):
            path = tmp_path / f"shards-{shards is not None}"
            arguments = self.arguments(configuration, "bytes")
            with zarr.config.set(native="require", threads=3):
                array = zarr.create_array(
                    path, shape=data.shape, dtype=data.dtype, chunks=8, shards=shards, **arguments
                )
                before = native.counts()
                array[...] = data
                assert np.array_equal(array[...], data)
                read, written = native.counts()
                assert read > before[0], "no chunk was read natively"
                assert written > before[1], "no chunk was written natively"
            with zarr.config.set(native="off"):
                assert np.array_equal(np.asarray(zarr.open_array(path)[...]), data)

    # --- inside ---

    def _native(self, configuration: Mapping[str, Any]) -> tuple[Any, Any]:
        """The compiled module of zarr-native, and the codec."""
        try:
            native = import_module("zarr_native._native")
        except ImportError:
            pytest.skip("zarr-native is not installed, or was installed without a compiler")
        codec = self._codec(configuration)
        assert hasattr(codec, "__zarr_codec_v1__"), "the codec has no method __zarr_codec_v1__"
        if codec.__zarr_codec_v1__(256) is None:
            pytest.skip("the codec was installed without a compiler, or has no native form here")
        return native, codec

    def _samples(
        self, configuration: Mapping[str, Any], codec: Any
    ) -> Iterator[tuple[bytes, bytes, Any]]:
        """Contents, what Python encodes, and the native form."""
        contents: list[bytes] = [bytes(range(256)), bytes(5000)]
        check_examples(contents.append, self.contents(configuration), 6)
        for content in contents:
            capsule = codec.__zarr_codec_v1__(len(content))
            yield content, bytes(codec.encode(content, len(content))), capsule


def _decoded(codec: Any, data: bytes, size: int) -> bytes | None:
    try:
        return bytes(codec.decode(data, size))
    except ChunkDecodeError:
        return None


def _in_a_child(work: Callable[[Note], None]) -> None:
    """Work in a process of its own, and fail with the last note if that fails or ends.

    ``work`` receives a function that notes what it does.
    """
    if not hasattr(os, "fork"):
        work(lambda what: None)
        return
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks while other threads exist; the child uses none of their locks.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        what = ""

        def note(text: str) -> None:
            nonlocal what
            what = text
            os.write(writer, f"{text}\n".encode())

        try:
            os.close(reader)
            work(note)
            os._exit(0)
        except BaseException as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            os.write(writer, f"{what}: {reason}\n".encode())
        finally:
            os._exit(1)
    os.close(writer)
    last = b""
    with os.fdopen(reader, "rb") as lines:
        for line in lines:
            last = line
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        problem = last.decode().strip()
        pytest.fail(f"{problem}: signal {-status} ends the process" if status < 0 else problem)
