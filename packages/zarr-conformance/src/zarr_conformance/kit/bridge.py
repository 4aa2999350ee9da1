"""Hooks that supply extensions that were published for another library."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from zarr_core.extension import ExtensionDefinition, Provider
from zarr_core.registry.hooks import supplied
from zarr_core.registry.resolve import find_provider

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
from importlib import import_module
place, *foreign = sys.argv[1:]
before = set(sys.modules)
tuple(import_module(place).zarr_list_extensions())
print(*sorted({*foreign} & (sys.modules.keys() - before)))
"""


class BridgeTests:
    """Inherit from this to test hooks that supply extensions of another library.

    Test what they supply with the classes of those extension points.

    Examples
    --------
    >>> class TestEncodings(BridgeTests):
    ...     name = "acme_encodings"
    ...     offered = [("codec", "python.hex")]
    """

    name: ClassVar[str]
    """The module with the hooks, which is the value of their entry points."""

    offered: ClassVar[Sequence[tuple[str, str]]] = ()
    """Extension points and names that it must supply in the environment of the tests."""

    @pytest.fixture
    def bridge(self) -> Any:
        """The function that lists all providers."""
        return import_module(self.name).zarr_list_extensions

    def test_is_installed(self) -> None:
        """An entry point with the name of each of the two hooks has the module as its value."""
        for hook in ("zarr_list_extensions", "zarr_supply_extension"):
            check_installed("hooks", hook)
            values = [point.value for point in entry_points(group="zarr_core.hooks", name=hook)]
            assert self.name in values, f"no entry point {hook} = {self.name!r}"

    def test_providers_are_valid(self, bridge: Any) -> None:
        """Every item is a Provider with extension point, name, code and distribution."""
        listed = list(bridge())
        for provider in listed:
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
        names = [(item.extension_point, item.name, item.distribution) for item in listed]
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"offered twice, so that neither can be used: {sorted(twice)}"

    def test_providers_are_deterministic(self, bridge: Any) -> None:
        """Repeated calls return the same providers."""
        assert set(bridge()) == set(bridge())

    def test_providers_load(self, bridge: Any) -> None:
        """Providers load: the adapter returns a class for the extension point."""
        by_name = {(provider.extension_point, provider.name): provider for provider in bridge()}
        assert self.offered, "say in `offered` what is to be offered"
        missing = [item for item in self.offered if item not in by_name]
        assert not missing, f"not offered: {missing}"
        for item in self.offered:
            assert isinstance(by_name[item].load(), type)

    def test_bridge_does_not_import_library(self, bridge: Any) -> None:
        """Listing the providers does not import their code."""
        foreign = {
            target.partition(":")[0]
            for provider in bridge()
            for target in (provider.target, provider.adapter)
            if target and target.partition(":")[0] != self.name
        }
        run = subprocess.run(
            [sys.executable, "-c", _LISTING, self.name, *sorted(foreign)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert run.returncode == 0, run.stderr
        assert not run.stdout.split(), f"imported by listing: {run.stdout.strip()}"

    def test_names_resolve_to_bridge(self) -> None:
        """The hook supplies the names, unless another distribution provides them."""
        for extension_point, name in self.offered:
            provider = find_provider(extension_point, ExtensionDefinition(name))
            assert provider is not None
            assert provider in supplied(extension_point), provider
            provider.load()
