"""Hooks of a house that wants units on its arrays, besides a record of what it uses."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from zarr_core.extension import Problem, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.extension import JSON, Provider


class Hooks:
    """One object of this class is made when the first node is opened."""

    def __init__(self) -> None:
        self.used: Counter[str] = Counter()

    @hookimpl
    def zarr_check_metadata(self, document: Mapping[str, JSON]) -> list[Problem]:
        attributes = document.get("attributes")
        if isinstance(attributes, dict) and attributes.get("units") == "":
            return [Problem("/attributes/units", "must not be empty: a rule of this house")]
        return []

    @hookimpl
    def zarr_select_provider(self, providers: Sequence[Provider]) -> Provider | None:
        ours = [provider for provider in providers if provider.distribution.startswith("acme-")]
        return ours[0] if len(ours) == 1 else None

    @hookimpl
    def zarr_extension_used(self, kind: str, name: str) -> None:
        self.used[f"{kind}.{name}"] += 1
