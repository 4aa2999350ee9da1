"""Validation of definitions without a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionConfigurationError
from zarr_core.metadata.validation_problem import ValidationProblem, json_pointer

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition


def without_configuration(definition: ExtensionDefinition) -> str:
    """The name of a definition that, as for the core data types, has no configuration.

    Raises
    ------
    ExtensionConfigurationError
        If it has one.
    """
    if definition.configuration:
        problems = [
            ValidationProblem(
                json_pointer("configuration", name), "is not a member here; none is known"
            )
            for name in definition.configuration
        ]
        raise ExtensionConfigurationError("data_type", definition.name, "", problems)
    return definition.name
