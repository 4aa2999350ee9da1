"""Sources of references: documents in memory, local files and URLs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarr_core.extension import Location, StoreError, read_metadata, strictjson

from zarr_stores.references.document import JSONReferences
from zarr_stores.references.parquet import ParquetReferences
from zarr_stores.references.targets import LOCAL, directory_of, local_path, open_target
from zarr_stores.secrets import without_secrets

if TYPE_CHECKING:
    from zarr_core.extension import Store

    from zarr_stores.references.entries import References

_DIRECTORIES = (".parq", ".parquet")


@dataclass(frozen=True, slots=True)
class Source:
    """A source of references: a ``document`` in memory, or the ``key`` of one in a ``store``.

    ``url`` has no credentials; targets can be relative to ``base``; references from a ``network``
    are not trusted.
    """

    url: str
    base: str
    network: bool = False
    document: Any = None
    store: Store | None = None
    key: str = ""

    def entries(self, templates: Mapping[str, str]) -> References:
        """Read the references."""
        if self.store is None:
            return JSONReferences(self.document, Location("references"), templates)
        location = Location(f"references in {self.store}", key=self.key)
        if self.key.lower().endswith(_DIRECTORIES) or self._is_directory():
            return ParquetReferences(self.store, f"{self.key}/")
        data = read_metadata(self.store, self.key)
        if data is None:
            raise StoreError("the references do not exist", self.store, self.key)
        return JSONReferences(strictjson.loads(data, location, constants=True), location, templates)

    def _is_directory(self) -> bool:
        if self.network or self.store is None:
            return False
        return self.store.exists(f"{self.key}/.zmetadata")


def source_of(
    fo: str | os.PathLike[str] | Mapping[str, Any],
    protocol: str | None,
    options: Mapping[str, Any],
) -> Source:
    """Return the source of references."""
    if isinstance(fo, Mapping):
        # Sorted, so that equal references have the same URL.
        try:
            text = strictjson.encode(dict(sorted(fo.items())))
        except ValueError as error:
            raise StoreError(f"the references are not valid: {error}") from error
        digest = blake2b(text, digest_size=8).hexdigest()
        return Source(f"reference://{digest}", os.getcwd(), document=strictjson.loads(text))
    text_of = os.fspath(fo).rstrip("/")
    if "::" in text_of:
        raise StoreError("references cannot be read from a chain of URLs", without_secrets(text_of))
    if "://" not in text_of and protocol not in (None, *LOCAL):
        text_of = f"{protocol}://{text_of}"
    if (path := local_path(text_of)) is not None:
        path = os.path.abspath(path)
        store, key = open_target(f"file://{path}", {})
        return Source(f"reference://{quote(path)}", os.path.dirname(path), False, None, store, key)
    store, key = open_target(text_of, options)
    url = f"reference+{without_secrets(text_of)}"
    return Source(url, directory_of(text_of), True, None, store, key)
