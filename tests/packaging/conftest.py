"""The results of ``make wheels``, built once, and empty environments to install them."""

import sys
import zlib
from pathlib import Path

import pytest
from built_once import built_once
from empty_environment import make_environment

sys.path.append(str(Path(__file__).parents[2] / "scripts"))


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    import build_wheels

    def build(folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ZARR_NATIVE_CFLAGS", "-O0")  # takes less time
            build_wheels.build(folder)

    return built_once(tmp_path_factory, "dist", build)


@pytest.fixture(scope="session")
def environment(dist, tmp_path_factory):
    """Returns the interpreter of an environment with the requirements, created once for each set."""

    def give(*requirements):
        name = f"environment-{zlib.crc32(' '.join(requirements).encode()):08x}"
        home = built_once(
            tmp_path_factory, name, lambda folder: make_environment(folder, dist, *requirements)
        )
        return home / "bin" / "python"

    return give
