"""The results of ``make wheels``, built once, and empty environments to install them."""

import sys
from pathlib import Path

import pytest
from empty_environment import make_environment

sys.path.append(str(Path(__file__).parents[2] / "scripts"))


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    import build_wheels

    folder = tmp_path_factory.mktemp("dist")
    build_wheels.build(folder)
    return folder


@pytest.fixture(scope="session")
def environment(dist, tmp_path_factory):
    """Returns the interpreter of an environment with the requirements, created once for each set."""
    made = {}

    def give(*requirements):
        if requirements not in made:
            home = tmp_path_factory.mktemp("environment")
            made[requirements] = make_environment(home, dist, *requirements)
        return made[requirements]

    return give
