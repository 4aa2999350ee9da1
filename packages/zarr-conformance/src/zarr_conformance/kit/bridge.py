"""Bridges, which offer what was published for another library."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import zarr_core as zarr
from zarr_core.extension import Provider

from zarr_conformance.kit.installation import check_installed

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXTENSION_POINTS = (
    "codec", "data_type", "chunk_grid", "chunk_key_encoding", "chunk_memory_layout",
    "storage_transformer", "extension", "format", "store",
)  # fmt: skip
_PLACE = re.compile(r"\w+(\.\w+)*(:\w+(\.\w+)*)?").fullmatch

_LISTING = """
import sys
from functools import reduce
from importlib import import_module
place, *foreign = sys.argv[1:]
before = set(sys.modules)
module, _, names = place.partition(":")
bridge = reduce(getattr, names.split("."), import_module(module))
tuple(bridge())
print(*sorted({*foreign} & (sys.modules.keys() - before)))
"""


class BridgeTests:
    """Inherit from this to test a bridge; test what it offers with the classes of those extension points.

    Examples
    --------
    >>> class TestEncodings(BridgeTests):
    ...     name = "acme-encodings"
    ...     offered = [("codec", "python.hex")]
    """

    name: ClassVar[str]
    """The name of the entry point."""

    extension: ClassVar[Any] = None
    """The function, as ``staticmethod(providers)``, while it is not yet installed; else None."""

    offered: ClassVar[Sequence[tuple[str, str]]] = ()
    """Kinds and names that it has to offer, where this is tested."""

    @pytest.fixture
    def bridge(self) -> Any:
        """The function."""
        if self.extension is not None:
            return self.extension
        check_installed("bridge", self.name)
        (point,) = entry_points(group="zarr_core.bridge", name=self.name)
        return point.load()

    def test_providers_are_valid(self, bridge: Any) -> None:
        """Every item is a Provider with extension point, name, code and distribution."""
        found = list(bridge())
        for provider in found:
            assert isinstance(provider, Provider), f"{provider!r} is not a Provider"
            assert provider.extension_point in _EXTENSION_POINTS, (
                f"{provider}: unknown extension point {provider.extension_point!r}"
            )
            assert provider.name
            assert _PLACE(provider.target), f"{provider.target!r} is not module:name"
            assert _PLACE(provider.adapter or "m"), f"{provider.adapter!r} is not module:name"
            try:
                distribution(provider.distribution)
            except PackageNotFoundError:
                pytest.fail(f"{provider}: no distribution {provider.distribution!r} is installed")
        # One name of several distributions is a conflict, which users settle.
        names = [(it.extension_point, it.name, it.distribution) for it in found]
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"offered twice, so that neither can be used: {sorted(twice)}"

    def test_providers_are_deterministic(self, bridge: Any) -> None:
        """It is asked again whenever something may have been installed."""
        assert set(bridge()) == set(bridge())

    def test_providers_load(self, bridge: Any) -> None:
        """And can be loaded: the adapter makes a class of that extension point."""
        found = {(provider.extension_point, provider.name): provider for provider in bridge()}
        assert self.offered, "say in `offered` what is to be offered"
        missing = [item for item in self.offered if item not in found]
        assert not missing, f"not offered: {missing}"
        for item in self.offered:
            assert isinstance(found[item].load(), type)

    def test_bridge_does_not_import_library(self, bridge: Any) -> None:
        """Listing is for all names at once; each is imported when it is used."""
        foreign = {
            place.partition(":")[0]
            for provider in bridge()
            for place in (provider.target, provider.adapter)
            if place and place.partition(":")[0] != bridge.__module__
        }
        place = f"{bridge.__module__}:{bridge.__qualname__}"
        run = subprocess.run(
            [sys.executable, "-c", _LISTING, place, *sorted(foreign)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert run.returncode == 0, run.stderr
        assert not run.stdout.split(), f"imported by listing: {run.stdout.strip()}"

    def test_names_resolve_to_bridge(self, bridge: Any) -> None:
        """By the name in metadata its extension is found, unless somebody else has the name."""
        if self.extension is not None:
            pytest.skip("the function is given: it need not be installed")
        for extension_point, name in self.offered:
            lines = zarr.installed_extensions(extension_point=extension_point, names=[name])
            assert [line.error for line in lines] == [None], lines
            assert [line.wins for line in lines] == [True], lines
