"""The test kit for authors, applied to native executors: that of this repository, and wrong ones."""

import pytest
import zarr_core as zarr
from zarr_conformance.kit import NativeExecutorTests
from zarr_core.extension import NativeExecutor, NativePlan

ARRAYS = [
    {"shape": (20, 15), "chunks": (6, 4), "dtype": "int32"},
    {"shape": (40,), "chunks": (5,), "shards": (20,), "dtype": "float32", "compressors": None},
    {"shape": (7, 3), "dtype": "uint8", "order": "F"},
]


class TestZarrNative(NativeExecutorTests):
    distribution = "zarr-native"
    arrays = ARRAYS


class Wrong(NativeExecutor):
    """An executor with a mistake in its plans."""

    def plan(self, array):
        return self.Plan()

    class Plan(NativePlan):
        def read(self, array, selection, out):
            return None

        def write(self, array, selection, value):
            return None


class NoPlan(Wrong):
    def plan(self, array):
        return "nothing is supported"


class ReadsZeros(Wrong):
    class Plan(Wrong.Plan):
        def read(self, array, selection, out):
            out[...] = 0
            return ()


class IgnoresMissing(Wrong):
    class Plan(Wrong.Plan):
        def read(self, array, selection, out):
            if any(True for _ in array.stored_chunks()):
                return None
            out[...] = 0
            return ()


class IgnoresDamage(Wrong):
    class Plan(Wrong.Plan):
        def read(self, array, selection, out):
            chunks = dict(array.stored_chunks())
            whole = array.codecs.decoded.nbytes
            if all(len(array.store.get(key)) >= whole for key in chunks.values()):
                return None
            out[...] = 0
            return ()


class WritesNothing(Wrong):
    class Plan(Wrong.Plan):
        def write(self, array, selection, value):
            return ()


@pytest.mark.parametrize(
    ("executor", "test"),
    [
        (NoPlan, "test_has_plans"),
        (ReadsZeros, "test_reads_as_python"),
        (ReadsZeros, "test_writes_as_python"),
        (WritesNothing, "test_writes_as_python"),
        (IgnoresMissing, "test_missing_chunks"),
        (IgnoresDamage, "test_damaged_chunks"),
    ],
)
def test_mistakes_are_noticed(executor, test, tmp_path):
    tests = NativeExecutorTests()
    tests.arrays = [{"shape": (4, 3), "dtype": "int16", "compressors": None}]
    with (
        zarr.override_extensions({"native": {"default": executor}}),
        pytest.raises((AssertionError, pytest.fail.Exception)),
    ):
        getattr(tests, test)(tmp_path)
