"""Where references are: in a document that is given, in a file, in a network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarr_core.extension import StoreError, strictjson

from zarr_stores.fsspec_secrets import without_secrets
from zarr_stores.references_document import Document
from zarr_stores.references_parquet import Records
from zarr_stores.references_targets import LOCAL, directory_of, local_path, opened

if TYPE_CHECKING:
    from zarr_core.extension import Store

    from zarr_stores.references_entries import Entries

_DIRECTORIES = (".parq", ".parquet")


@dataclass(frozen=True, slots=True)
class Source:
    """Where references come from.

    Parameters
    ----------
    url : str
        A URL of the store, without credentials.
    base : str
        The directory or URL that relative targets are relative to.
    network : bool
        Whether somebody else may have written them.
    document : mapping or None
        The references, if they are given.
    store : Store or None
        Where they are, if not.
    key : str
        Of the document, or of the directory.
    """

    url: str
    base: str
    network: bool = False
    document: Any = None
    store: Store | None = None
    key: str = ""

    def entries(self, templates: Mapping[str, str], records: int) -> Entries:
        """Read them.

        Raises
        ------
        StoreError
            If they are not there.
        MetadataError
            If they are wrong.
        """
        if self.store is None:
            return Document(self.document, "references", templates)
        where = f"references in {self.store} {self.key!r}"
        if self.key.lower().endswith(_DIRECTORIES) or self._is_directory():
            return Records(self.store, f"{self.key}/", records)
        data = self.store.get(self.key)
        if data is None:
            raise StoreError("there are no references here", self.store, self.key)
        return Document(strictjson.loads(data, where, constants=True), where, templates)

    def _is_directory(self) -> bool:
        if self.network or self.store is None:
            return False
        return self.store.exists(f"{self.key}/.zmetadata")


def source_of(
    fo: str | os.PathLike[str] | Mapping[str, Any],
    protocol: str | None,
    options: Mapping[str, Any],
) -> Source:
    """Find where references are.

    Raises
    ------
    StoreError
        If the place is none.
    """
    if isinstance(fo, Mapping):
        # The same for the same references, whatever their order.
        try:
            text = strictjson.encode(dict(sorted(fo.items())))
        except ValueError as error:
            raise StoreError(f"no references: {error}") from error
        digest = blake2b(text, digest_size=8).hexdigest()
        return Source(f"reference://{digest}", os.getcwd(), document=strictjson.loads(text))
    text_of = os.fspath(fo).rstrip("/")
    if "::" in text_of:
        raise StoreError("chains of URLs are no places of references", without_secrets(text_of))
    if "://" not in text_of and protocol not in (None, *LOCAL):
        text_of = f"{protocol}://{text_of}"
    if (path := local_path(text_of)) is not None:
        path = os.path.abspath(path)
        store, key = opened(f"file://{path}", {}, through_fsspec=False)
        return Source(f"reference://{quote(path)}", os.path.dirname(path), False, None, store, key)
    store, key = opened(text_of, options, through_fsspec=protocol is not None)
    url = f"reference+{without_secrets(text_of)}"
    return Source(url, directory_of(text_of), True, None, store, key)
