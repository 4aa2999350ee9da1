"""Hooks of an organization: a validation rule, preferred providers, and counts of extensions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from zarr_core.extension import ValidationProblem, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON, Provider


class Hooks:
    """An object of this class is created when the first node is opened."""

    def __init__(self) -> None:
        self.used: Counter[str] = Counter()

    @hookimpl
    def zarr_check_metadata(self, document: Mapping[str, JSON]) -> list[ValidationProblem]:
        attributes = document.get("attributes")
        if isinstance(attributes, dict) and attributes.get("units") == "":
            return [
                ValidationProblem("/attributes/units", "must not be empty (rule of acme-hooks)")
            ]
        return []

    @hookimpl
    def zarr_select_provider(self, providers: Sequence[Provider]) -> Provider | None:
        ours = [provider for provider in providers if provider.distribution.startswith("acme-")]
        return ours[0] if len(ours) == 1 else None

    @hookimpl
    def zarr_extension_used(self, extension_point: str, name: str) -> None:
        self.used[f"{extension_point}.{name}"] += 1
