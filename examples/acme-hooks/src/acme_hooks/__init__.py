"""Hooks of an organization: a validation rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ValidationProblem, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON


class Hooks:
    """An object of this class is created when the first node is opened."""

    @hookimpl
    def zarr_check_metadata(self, document: Mapping[str, JSON]) -> list[ValidationProblem]:
        attributes = document.get("attributes")
        if isinstance(attributes, dict) and attributes.get("units") == "":
            return [
                ValidationProblem("/attributes/units", "must not be empty (rule of acme-hooks)")
            ]
        return []
