"""Storage transformer ``acme.sealed``: a signature (HMAC-SHA-256) after each chunk."""

from __future__ import annotations

import hmac
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    Buffer,
    BufferByteReader,
    Buffers,
    ByteReader,
    ExtensionDefinition,
    StorageTransformer,
    Store,
    StoreError,
    StoreReadError,
    WrapperStore,
)

if TYPE_CHECKING:
    from zarr_core.extension import Change

_SIZE = 32  # bytes of a SHA-256


@dataclass(frozen=True, slots=True)
class Sealed(StorageTransformer):
    """Appends a signature to each chunk.

    Parameters
    ----------
    variable : str
        The environment variable with the secret key.
    """

    variable: str

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Sealed:
        variable: Any = definition.configuration["variable"]
        return cls(variable)

    def transform(self, store: Store, prefix: str) -> SealedStore:
        secret = os.environ.get(self.variable)
        if not secret:
            raise StoreError(f"set the environment variable {self.variable} to the key", store)
        return SealedStore(store, prefix, secret.encode(errors="surrogateescape"))


class SealedStore(WrapperStore):
    """A store whose values are signed, together with their keys below the prefix."""

    def __init__(self, store: Store, prefix: str, secret: bytes) -> None:
        super().__init__(store)
        self.prefix = prefix
        self._secret = secret

    def get(self, key: str) -> Buffer | None:
        value = self.inner.get(key)
        return None if value is None else self._opened(key, value)

    def set(self, key: str, value: Buffers) -> None:
        self.inner.set(key, self._sealed(key, value))

    def update(self, key: str, change: Change) -> None:
        # The inner store excludes concurrent changes.
        def sealed(reader: ByteReader | None) -> Buffers | ByteReader | None:
            old = reader and BufferByteReader(self._opened(key, reader.read(0, reader.size)))
            new = change(old)
            if new is None:
                return None
            return reader if isinstance(new, ByteReader) else self._sealed(key, new)

        self.inner.update(key, sealed)

    def _sealed(self, key: str, value: Buffers) -> bytes:
        buffers = [value] if isinstance(value, bytes | bytearray | memoryview) else value
        content = b"".join(buffers)
        return content + self._signature(key, content)

    def _opened(self, key: str, value: Buffer) -> bytes:
        content, stored = bytes(value)[:-_SIZE], bytes(value)[-_SIZE:]
        if not hmac.compare_digest(self._signature(key, content), stored):
            raise StoreReadError(
                "the signature does not match: the chunk was changed, or signed with another key",
                self,
                key,
            )
        return content

    def _signature(self, key: str, content: bytes) -> bytes:
        # The key is also signed, so chunks cannot be exchanged; keys do not contain NUL.
        name = key.removeprefix(self.prefix).encode(errors="surrogatepass")
        return hmac.digest(self._secret, name + b"\0" + content, "sha256")
