"""The check that a data type is given no configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionConfigurationError
from zarr_core.metadata.problem import Problem, json_pointer

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition


def without_configuration(definition: ExtensionDefinition) -> str:
    """Return the name of a definition that has no configuration, as the core data types do.

    Raises
    ------
    ExtensionConfigurationError
        If it has one.
    """
    if definition.configuration:
        problems = [
            Problem(json_pointer("configuration", name), "is not a member here; none is known")
            for name in definition.configuration
        ]
        raise ExtensionConfigurationError("data_type", definition.name, "", problems)
    return definition.name
