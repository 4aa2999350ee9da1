"""Native executors: compiled code for whole chunks, whose results are those of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.extension import ChunkDecodeError, NativePlan
from zarr_core.registry.resolve import find_class

from zarr_conformance.kit.installation import check_installed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from zarr_core.extension import NativeExecutor

_OFF = {"native": "off"}


class NativeExecutorTests:
    """Inherit from this to test a native executor.

    Examples
    --------
    >>> class TestFast(NativeExecutorTests):
    ...     distribution = "acme-fast"
    ...     arrays = [{"shape": (20, 30), "chunks": (7, 7), "dtype": "int32"}]
    """

    distribution: ClassVar[str] = ""
    """The distribution whose entry point ``default`` names the class."""

    extension: ClassVar[type[NativeExecutor] | None] = None
    """The class, if it is not installed; None to find it by its distribution."""

    arrays: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """Arguments of ``create_array`` for arrays that the executor has a plan for."""

    @pytest.fixture(autouse=True)
    def _chosen(self) -> Iterator[None]:
        with zarr.config.set(native="auto"):
            if self.extension is not None:
                with zarr.override_extensions({"native": {"default": self.extension}}):
                    yield
            else:
                with zarr.config.set(providers={"native.default": self.distribution}):
                    yield

    def test_is_installed(self) -> None:
        """The entry point exists, and its class loads."""
        if self.extension is None:
            check_installed("native", "default")

    def test_has_plans(self, tmp_path: Path) -> None:
        """The executor has a plan for the arrays, and a reason for an array of strings."""
        executor: NativeExecutor = find_class("native", "default")()
        assert self.arrays, "define arrays"
        for array, _ in self._filled(tmp_path):
            plan = executor.plan(array.stored)
            assert isinstance(plan, NativePlan), f"no plan for {array.metadata}: {plan}"
        strings = zarr.create_array(shape=3, dtype="S3", fill_value=b"")
        assert isinstance(executor.plan(strings.stored), NativePlan | str)
        assert all(
            isinstance(item, str) for pair in executor.describe().items() for item in pair
        ), "describe returns text"

    def test_reads_as_python(self, tmp_path: Path) -> None:
        """All selections read the same elements as without the executor."""
        for array, values in self._filled(tmp_path):
            for index in _indices(array.shape):
                assert np.array_equal(array[index], values[index]), f"{index} of {array.metadata}"
            assert np.array_equal(array.vindex[_points(array.shape)], values[_points(array.shape)])

    def test_writes_as_python(self, tmp_path: Path) -> None:
        """What is written with the executor is read without it, and unselected elements remain."""
        for array, values in self._filled(tmp_path):
            for number, index in enumerate(_indices(array.shape), 2):
                array[index] = values[index] = np.ones_like(values[index]) * number
                assert np.array_equal(_by_python(array), values), f"{index} of {array.metadata}"
                assert np.array_equal(array[...], values), f"{index} of {array.metadata}"

    def test_missing_chunks(self, tmp_path: Path) -> None:
        """Missing chunks are read as the fill value, also into memory that contains others."""
        for number, arguments in enumerate(self.arrays):
            array = zarr.create_array(tmp_path / str(number), **{**arguments, "fill_value": 1})
            assert (array[...] == 1).all()

    def test_damaged_chunks(self, tmp_path: Path) -> None:
        """Values that are too short are errors, as without the executor."""
        for array, _ in self._filled(tmp_path):
            _, key = next(iter(array.stored.stored_chunks()))
            array.store.set(key, bytes(array.store.get(key) or b"")[:-1])
            with pytest.raises(ChunkDecodeError):
                array[...]

    def _filled(self, folder: Path) -> Iterator[tuple[Any, np.ndarray[Any, Any]]]:
        """Arrays in a directory and in memory, and their elements."""
        for number, arguments in enumerate(self.arrays):
            for store in (folder / f"{number}.zarr", zarr.MemoryStore()):
                array: Any = zarr.create_array(store, **arguments)
                values = (np.arange(array.size) % 100 + 1).reshape(array.shape).astype(array.dtype)
                with zarr.config.set(**_OFF):
                    zarr.open_array(array.store, mode="r+")[...] = values
                yield array, values


def _by_python(array: Any) -> Any:
    with zarr.config.set(**_OFF):
        return zarr.open_array(array.store, mode="r")[...]


def _indices(shape: tuple[int, ...]) -> list[Any]:
    """Boxes of every kind: whole, within one chunk, across chunks, with steps, single elements."""
    whole = tuple(slice(None) for _ in shape)
    return [
        whole,
        tuple(slice(length // 3, length // 3 + 1) for length in shape),
        tuple(slice(length // 3, length) for length in shape),
        tuple(slice(0, length, 2) for length in shape),
        tuple(length - 1 for length in shape),
    ]


def _points(shape: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], ...]:
    return tuple(np.array([length - 1, 0, 0]) for length in shape)
