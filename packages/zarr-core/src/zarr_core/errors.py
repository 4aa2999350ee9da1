"""Every error that the project raises, with the data it carries.

Constructors keep objects, ``__str__`` builds the sentence: what was being done and where,
what is wrong, what to do.  Arguments reach ``args`` unchanged, so all of them pickle.  A class
is also the built-in that callers would naturally catch, but never ``KeyError`` (it quotes its
message) nor ``OSError`` (it loses its arguments when pickled).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.metadata.problem import Problem


class ZarrError(Exception):
    """Root of all errors of this library."""


# --- metadata: a stored document, or the one about to be stored, is wrong ---


class MetadataError(ZarrError, ValueError):
    """A metadata document is wrong.

    Parameters
    ----------
    where : str
        The document: store and key, or a description such as ``"new array"``.
    problems : iterable of Problem
        Everything that is wrong with it, each with its JSON pointer.
    """

    def __init__(self, where: str, problems: Iterable[Problem]) -> None:
        problems = tuple(problems)
        super().__init__(where, problems)
        self.where = where
        self.problems = problems

    def __str__(self) -> str:
        return "\n  ".join([f"{self.where}: {self._summary()}", *map(str, self.problems)])

    def _summary(self) -> str:
        count = len(self.problems)
        return f"invalid metadata, {count} problem{'' if count == 1 else 's'}:"


class MetadataDecodeError(MetadataError):
    """A metadata document is not UTF-8, not strict JSON, or repeats a key."""

    def _summary(self) -> str:
        return "not a JSON document that can be read:"


class MetadataValidationError(MetadataError):
    """A document breaks its JSON Schema or a cross-field rule; lists every problem."""


class AttributeValueError(MetadataValidationError, TypeError):
    """A value that a user gave for an attribute has no JSON form; names each."""


class UnsupportedFieldError(MetadataError):
    """A document has an unknown member that must be understood.

    Raised for members that the specification does not define and that are not
    an object with ``"must_understand": false`` (v3.1, "Additional fields").
    """

    def _summary(self) -> str:
        return "members that this library does not know and must understand:"


# --- extensions ---


class ExtensionError(ZarrError):
    """Something about an extension is wrong.

    Attributes
    ----------
    kind : str
        The extension point, for example ``"codec"``.
    extension_name : str
        The name in metadata, for example ``"gzip"``.
    """

    kind: str
    extension_name: str


class UnknownExtensionError(ExtensionError, LookupError):
    """Nobody provides an extension of this kind and name.

    Parameters
    ----------
    kind, extension_name : str
        The extension point and the name that was asked for.
    where : str, optional
        Node and JSON pointer of the definition that named it.
    known : iterable of str, optional
        Names close to the one asked for.
    hint : str, optional
        What to install or do.
    """

    def __init__(
        self,
        kind: str,
        extension_name: str,
        where: str = "",
        known: Iterable[str] = (),
        hint: str = "",
    ) -> None:
        known = tuple(known)
        super().__init__(kind, extension_name, where, known, hint)
        self.kind = kind
        self.extension_name = extension_name
        self.where = where
        self.known = known
        self.hint = hint

    def __str__(self) -> str:
        prefix = f"{self.where}: " if self.where else ""
        text = (
            f"{prefix}no {self.kind.replace('_', ' ')} called {self.extension_name!r} is installed"
        )
        if self.known:
            text += f"; similar names: {', '.join(map(repr, self.known))}"
        return f"{text}. {self.hint}" if self.hint else f"{text}."


class ExtensionConflictError(ExtensionError):
    """Several distributions provide the same extension, and none was chosen.

    Parameters
    ----------
    kind, extension_name : str
        The extension point and name.
    distributions : iterable of str
        The distributions that provide it, each as ``"name version (module:Class)"``.
    """

    def __init__(self, kind: str, extension_name: str, distributions: Iterable[str]) -> None:
        distributions = tuple(distributions)
        super().__init__(kind, extension_name, distributions)
        self.kind = kind
        self.extension_name = extension_name
        self.distributions = distributions

    def __str__(self) -> str:
        what = f"the {self.kind.replace('_', ' ')} {self.extension_name!r}"
        found = f"{len(self.distributions)} distributions provide {what}"
        first = self.distributions[0].split(" ", 1)[0] if self.distributions else "NAME"
        choice = f"providers={{'{self.kind}.{self.extension_name}': '{first}'}}"
        help_ = f" Choose one: zarr_core.config.set({choice})"
        if len({item.partition(" (")[0] for item in self.distributions}) == 1:
            found, help_ = f"{first} provides {what} more than once", " It must be repaired."
        return f"{found}: {'; '.join(self.distributions)}.{help_}"


class ExtensionLoadError(ExtensionError):
    """An installed extension cannot be imported, or is not what its kind requires.

    Parameters
    ----------
    kind, extension_name : str
        The extension point and name.
    target : str
        The entry point's value, ``module:Class``.
    distribution : str
        Name and version of the distribution that declares it.
    reason : str
        What went wrong; the original exception is chained as the cause.
    """

    def __init__(
        self, kind: str, extension_name: str, target: str, distribution: str, reason: str
    ) -> None:
        super().__init__(kind, extension_name, target, distribution, reason)
        self.kind = kind
        self.extension_name = extension_name
        self.target = target
        self.distribution = distribution
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"the {self.kind.replace('_', ' ')} {self.extension_name!r} is provided by "
            f"{self.distribution} as {self.target}, which failed to load: {self.reason}. "
            "Repair, upgrade or remove that distribution; other extensions are not affected."
        )


class ExtensionConfigurationError(ExtensionError, ValueError):
    """A known extension refuses its configuration; ``must_understand`` does not matter.

    Parameters
    ----------
    kind, extension_name : str
        The extension point and name.
    where : str
        Node and JSON pointer of the definition.
    problems : iterable of Problem
        Everything that is wrong with the configuration.
    """

    def __init__(
        self, kind: str, extension_name: str, where: str, problems: Iterable[Problem]
    ) -> None:
        problems = tuple(problems)
        super().__init__(kind, extension_name, where, problems)
        self.kind = kind
        self.extension_name = extension_name
        self.where = where
        self.problems = problems

    def __str__(self) -> str:
        prefix = f"{self.where}: " if self.where else ""
        lines = [
            f"{prefix}the configuration of {self.kind.replace('_', ' ')} "
            f"{self.extension_name!r} is refused:"
        ]
        lines += [f"  {problem}" for problem in self.problems]
        return "\n".join(lines)


# --- codecs and chunks ---


class CodecError(ZarrError):
    """A codec or a chain of codecs cannot do what it was asked."""


class CodecChainError(CodecError, ValueError):
    """Codecs do not form a chain, or refuse the representation that they are given."""


class ChunkDecodeError(CodecError, ValueError):
    """The bytes of a stored chunk are not what the codecs expect.

    Parameters
    ----------
    reason : str
        What is wrong with the bytes.
    codec : str, optional
        Name of the codec that noticed.
    where : str, optional
        Array and key; added by the engine, which knows them.
    """

    def __init__(self, reason: str, codec: str = "", where: str = "") -> None:
        super().__init__(reason, codec, where)
        self.reason = reason
        self.codec = codec
        self.where = where

    def located(self, where: str) -> ChunkDecodeError:
        """The same error, saying where; what was known already is kept."""
        return type(self)(self.reason, self.codec, self.where or where)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        codec = f" (codec {self.codec!r})" if self.codec else ""
        return (
            f"{place}damaged chunk{codec}: {self.reason}. "
            "Other chunks stay readable; write this one anew to repair it."
        )


class ChecksumError(ChunkDecodeError):
    """A stored checksum differs from that of the bytes beside it."""


class MissingChunkError(CodecError, LookupError):
    """A chunk is not stored, and the array was opened with ``missing_chunks="error"``.

    Parameters
    ----------
    where : str
        Array and key.
    """

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.where = where

    def __str__(self) -> str:
        return (
            f"{self.where}: the chunk is not stored. "
            'Open the array with missing_chunks="fill" to read the fill value instead.'
        )


# --- stores ---


class StoreError(ZarrError):
    """A store failed, or cannot do what it was asked.

    Parameters
    ----------
    reason : str
        What went wrong.
    store, key : str, optional
        The store, as its ``repr`` or URL; the key or prefix concerned.
    """

    def __init__(self, reason: str, store: Any = "", key: str = "") -> None:
        self.reason, self.store, self.key = reason, str(store), key
        super().__init__(reason, self.store, key)

    def __str__(self) -> str:
        place = " ".join(part for part in (self.store, repr(self.key) if self.key else "") if part)
        return f"{place}: {self.reason}" if place else self.reason


class StoreKeyError(StoreError, ValueError):
    """A key or prefix breaks the grammar: empty, absolute, ``..``, NUL, backslash ..."""


class StoreReadError(StoreError):
    """A value is there but could not be read; never taken for a missing one."""


class ValueReplacedError(StoreReadError):
    """A value was replaced while parts of it were read, of which the rest is gone; read anew."""


class StoreReadOnlyError(StoreError, ValueError):
    """A change was asked of something that is open for reading only."""


class StoreCapabilityError(StoreError, TypeError):
    """The store does not have the capability: listing, erasing, writing ..."""


# --- nodes ---


class NodeError(ZarrError):
    """A node of a hierarchy is not there, is in the way, or is of the other type.

    Parameters
    ----------
    where : str
        Store and path of the node.
    reason : str
        What is wrong, and what to do.
    """

    def __init__(self, where: str, reason: str = "") -> None:
        super().__init__(where, reason)
        self.where = where
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}" if self.reason else self.where


class NodeNotFoundError(NodeError, LookupError, ValueError):
    """There is no node at this path."""


class NodeExistsError(NodeError, ValueError):
    """There is a node, or foreign data, at this path already."""


class NodeTypeError(NodeError, TypeError):
    """An array was asked for and a group found, or the other way round."""


class NodeNameError(NodeError, ValueError):
    """A node name or path breaks the grammar of the specification (v3.1, "Node names")."""


# --- selections ---


class SelectionError(ZarrError, IndexError):
    """A selection does not fit the array.

    Parameters
    ----------
    reason : str
        What is wrong with it.
    shape : tuple of int, optional
        Shape of the array.
    """

    def __init__(self, reason: str, shape: tuple[int, ...] | None = None) -> None:
        super().__init__(reason, shape)
        self.reason = reason
        self.shape = shape

    def __str__(self) -> str:
        return self.reason if self.shape is None else f"{self.reason} (array shape {self.shape})"
