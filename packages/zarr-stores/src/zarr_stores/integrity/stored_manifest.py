"""The manifest of a hierarchy in its own store, and a second value with later changes.

The header of the second value has a sequence number, which every update increases, and the writers
that have not finished, such as :func:`write_manifest`.  While there is a writer, or after one has
crashed, the manifest is *behind*: it may not describe the present values.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from zarr_core.extension import Location, StoreError

from zarr_stores.integrity.manifest import (
    CHANGES_NAME,
    MANIFEST_NAME,
    Manifest,
    ManifestEntry,
    create_manifest,
    decode_lines,
    encode_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.extension import Buffer, ByteReader, Store

__all__ = ["Changes", "StoredManifest", "read_manifest", "write_manifest"]

_FORMAT = "zarr_manifest_changes"
_ATTEMPTS = 100


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes since the manifest was written."""

    sequence: int = 0
    writers: Mapping[str, str] = field(default_factory=dict)
    records: Mapping[str, ManifestEntry | None] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Return the changes as JSON lines."""
        header = {_FORMAT: 1, "sequence": self.sequence, "writers": dict(self.writers)}
        return encode_lines(header, self.records.items())

    @classmethod
    def decode(cls, data: Buffer, location: object) -> Changes:
        """Read changes from JSON lines."""
        header, records = decode_lines(data, _FORMAT, location)
        sequence, writers = header.get("sequence"), header.get("writers")
        if not isinstance(sequence, int) or not isinstance(writers, dict):
            raise StoreError("not a manifest: no sequence and writers", store=location)
        return cls(sequence, {str(it): str(began) for it, began in writers.items()}, records)

    @property
    def behind(self) -> str:
        """Why the manifest may not describe the present values; empty if it does."""
        if not self.writers:
            return ""
        count, began = len(self.writers), min(self.writers.values())
        who = "a writer has" if count == 1 else f"{count} writers have"
        return (
            f"the manifest is behind: {who} not recorded changes since {began}, and may still be "
            "writing or have crashed"
        )


class StoredManifest:
    """The manifest in a store, and the changes since."""

    def __init__(self, store: Store, path: str = "") -> None:
        self.store = store
        self.prefix = f"{path}/" if path else ""
        self.manifest_key = self.prefix + MANIFEST_NAME
        self.changes_key = self.prefix + CHANGES_NAME

    def exists(self) -> bool:
        """Whether there is a manifest."""
        return self.store.exists(self.manifest_key)

    def changes(self) -> Changes:
        """Return the changes; none if there are none."""
        return self._changes(self.store.get(self.changes_key))

    def _changes(self, data: Buffer | None) -> Changes:
        if data is None:
            return Changes()
        return Changes.decode(data, Location(self.store, key=self.changes_key))

    def read(self) -> tuple[Manifest | None, Changes]:
        """Return the manifest with its changes; None if it does not exist.

        The manifest describes the present values unless there are writers.
        """
        for _ in range(_ATTEMPTS):
            changes = self.changes()
            data = self.store.get(self.manifest_key)
            if self.changes().sequence == changes.sequence:
                break
        else:
            raise StoreError(
                "the manifest was changed during every attempt to read it; try again",
                self.store, self.manifest_key,
            )  # fmt: skip
        if data is None:
            return None, changes
        manifest = Manifest.decode(data, Location(self.store, key=self.manifest_key))
        for key, record in changes.records.items():
            manifest.set(key, record)
        return manifest, changes

    def update(self, change: Callable[[Changes], Changes | None]) -> Changes | None:
        """Change the changes; the sequence number is increased.

        ``change`` returns None to change nothing, which is then the result.
        """
        new: Changes | None = None

        def work(reader: ByteReader | None) -> bytes | ByteReader | None:
            nonlocal new
            data = None if reader is None else reader.read(0, reader.size)
            old = self._changes(data)
            new = change(old)
            if new is None:
                return reader
            new = replace(new, sequence=old.sequence + 1)
            return new.encode()

        self.store.update(self.changes_key, work)
        return new

    def add_writer(self) -> tuple[str, Changes]:
        """Record that values are going to be changed; return the name of the writer."""
        name = uuid.uuid4().hex
        began = datetime.now(UTC).isoformat(timespec="seconds")
        new = self.update(lambda old: replace(old, writers={**old.writers, name: began}))
        assert new is not None
        return name, new

    def replace(self, manifest: Callable[[], Manifest]) -> Manifest:
        """Write a new manifest, which describes all changes of the present writers."""
        before = self.changes()
        writer, _ = self.add_writer()  # behind until the end
        new = manifest()
        self.store.set(self.manifest_key, new.encode())

        def finish(old: Changes) -> Changes:
            known = {writer, *before.writers}
            return Changes(
                writers={it: at for it, at in old.writers.items() if it not in known},
                records={
                    key: record
                    for key, record in old.records.items()
                    if key not in before.records or before.records[key] != record
                },
            )

        self.update(finish)
        return new


def read_manifest(store: Store, path: str = "") -> tuple[Manifest | None, str]:
    """Read the manifest that is stored in a hierarchy."""
    manifest, changes = StoredManifest(store, path).read()
    return manifest, changes.behind


def write_manifest(
    store: Store, path: str = "", progress: Callable[[Any], object] | None = None
) -> Manifest:
    """Read every value of a hierarchy and store its manifest in it.

    Values must not be changed meanwhile.  The manifest is then not behind, also if a writer had
    crashed.
    """
    return StoredManifest(store, path).replace(
        lambda: create_manifest(store, path, progress=progress)
    )
