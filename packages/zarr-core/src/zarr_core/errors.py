"""The errors of this library, and the problems of metadata that they report.

Errors store their arguments unchanged in ``args``, so that they can be pickled; ``__str__``
creates the message: location, problem, remedy.  Each class is also a subclass of a suitable
built-in exception, but not of ``OSError``, which loses its arguments when pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.messages import (
    escape_controls,
    listed,
    pluralize,
    printable_message,
    quoted,
    shorten,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zarr_core.location import Location

_TOKEN, _POINTER = 1000, 4000  # characters of a token of a pointer, and of a pointer
_MESSAGE = 1000  # characters of a message
_LINES = 1800  # characters of all problems in the message of an error


def is_ordinary_error(error: BaseException) -> bool:
    """Whether an error is a fault of the called code, not a request to stop the program.

    Includes panics of modules written in Rust, which derive from BaseException.
    """
    return isinstance(error, Exception) or type(error).__module__ == "pyo3_runtime"


def reason(error: BaseException) -> str:
    """The message of an error in an extension; with the class unless ValueError or TypeError."""
    message = str(error)
    if message and isinstance(error, (ValueError, TypeError)):
        return message
    return f"{type(error).__name__}: {message}"


# --- problems ---


@dataclass(frozen=True, slots=True)
class ValidationProblem:
    """A problem at one location of a document.

    Parameters
    ----------
    pointer : str
        JSON pointer of the location; empty for the whole document.  For a missing member, the
        pointer that it would have.
    message : str
        A sentence without a subject: ``"must be an integer, not 10.5"``.  The middle of a
        message of more than 1,000 characters, or of a pointer of more than 4,000, is omitted.

    Examples
    --------
    >>> str(ValidationProblem("/shape/0", "must be an integer, not 10.5"))
    '/shape/0: must be an integer, not 10.5'
    """

    pointer: str
    message: str

    def __post_init__(self) -> None:
        for name, limit in (("pointer", _POINTER), ("message", _MESSAGE)):
            if len(text := getattr(self, name)) > limit:
                object.__setattr__(self, name, shorten(text, limit))

    def below(self, pointer: str) -> ValidationProblem:
        """Return the same problem for a document that contains this one at ``pointer``."""
        return ValidationProblem(pointer + self.pointer, self.message) if pointer else self

    def __str__(self) -> str:
        message = escape_controls(self.message, keep="\n")
        pointer = escape_controls(shorten(self.pointer, 300))
        return f"{pointer}: {message}" if pointer else message


def json_pointer(*tokens: str | int) -> str:
    """Return a JSON pointer (RFC 6901) from unescaped tokens, outermost first.

    The middle of a name of more than 1,000 characters is omitted.

    Examples
    --------
    >>> json_pointer("codecs", 0, "a/b")
    '/codecs/0/a~1b'
    """
    return "".join(
        f"/{token}"
        if isinstance(token, int)
        else "/" + shorten(token, _TOKEN).replace("~", "~0").replace("/", "~1")
        for token in tokens
    )


def problem_lines(problems: Sequence[ValidationProblem]) -> list[str]:
    """Return lines of a message: the first problems, and the number of others.

    Examples
    --------
    >>> problem_lines([ValidationProblem("", "is empty")])
    ['is empty']
    """
    lines: list[str] = []
    length = 0
    for problem in problems:
        line = str(problem)
        length += len(line)
        if lines and length > _LINES:
            return [*lines, f"and {len(problems) - len(lines):,} more"]
        lines.append(line)
    return lines


# --- errors ---


class ZarrError(Exception):
    """Base class of all errors of this library; subclasses override ``_message``.

    Attributes
    ----------
    location : str
        Store, node or key, and JSON pointer; empty if it is unknown.
    problems : tuple of ValidationProblem
        All problems, each with its JSON pointer; empty for most errors.
    """

    location: str = ""
    problems: tuple[ValidationProblem, ...] = ()

    def __str__(self) -> str:
        first = ": ".join(filter(None, [self.location, self._message()]))
        return printable_message("\n  ".join([first, *problem_lines(self.problems)]))

    def _message(self) -> str:
        """Return the problem and the remedy, without location and problems."""
        return super().__str__()


# --- metadata ---


class MetadataError(ZarrError, ValueError):
    """A metadata document is invalid.

    Parameters
    ----------
    location : Location or str
        Store and key of the document, or a description such as ``"new array"``.
    problems : iterable of ValidationProblem
        All problems, each with its JSON pointer.
    """

    def __init__(self, location: Location | str, problems: Iterable[ValidationProblem]) -> None:
        location, problems = str(location), tuple(problems)
        super().__init__(location, problems)
        self.location, self.problems = location, problems

    def _message(self) -> str:
        return f"invalid metadata, {pluralize(len(self.problems), 'problem')}:"


class MetadataDecodeError(MetadataError):
    """A metadata document is not UTF-8, not strict JSON, or repeats a key."""

    def _message(self) -> str:
        return "cannot be decoded as strict JSON:"


class MetadataValidationError(MetadataError):
    """A metadata document is invalid; ``problems`` has all problems."""


class AttributeValueError(MetadataValidationError, TypeError):
    """Attribute values that JSON cannot represent."""


class UnsupportedFieldError(MetadataError):
    """Metadata with an unknown field that must be understood (v3.1, "Additional fields")."""

    def _message(self) -> str:
        return "unknown additional fields that must be understood:"


# --- extensions ---


class ExtensionError(ZarrError):
    """Base class of errors of extensions.

    Attributes
    ----------
    extension_point, extension_name : str
        The extension point, such as ``"codec"``, and the name in metadata, such as ``"gzip"``.
    """

    extension_point: str
    extension_name: str

    @property
    def _kind(self) -> str:
        return self.extension_point.replace("_", " ")


class UnknownExtensionError(ExtensionError, LookupError):
    """No extension with this name is installed.

    Parameters
    ----------
    location : Location or str, optional
        Node and JSON pointer of the definition.
    known : iterable of str, optional
        Similar names.
    hint : str, optional
        A remedy, such as a distribution to install.
    """

    def __init__(
        self,
        extension_point: str,
        extension_name: str,
        location: Location | str = "",
        known: Iterable[str] = (),
        hint: str = "",
    ) -> None:
        location, known = str(location), tuple(known)
        super().__init__(extension_point, extension_name, location, known, hint)
        self.extension_point, self.extension_name = extension_point, extension_name
        self.location, self.known, self.hint = location, known, hint

    def _message(self) -> str:
        text = f"no {self._kind} called {quoted(self.extension_name)} is installed"
        if self.known:
            text += f"; similar names: {', '.join(map(repr, self.known))}"
        return f"{text}. {self.hint}" if self.hint else f"{text}."


class ExtensionConflictError(ExtensionError):
    """Several distributions provide the same extension, and none is selected.

    Parameters
    ----------
    distributions : iterable of str
        The distributions that provide it, each as ``"name version (module:Class)"``.
    """

    def __init__(
        self, extension_point: str, extension_name: str, distributions: Iterable[str]
    ) -> None:
        distributions = tuple(distributions)
        super().__init__(extension_point, extension_name, distributions)
        self.extension_point, self.extension_name = extension_point, extension_name
        self.distributions = distributions

    def _message(self) -> str:
        what = f"the {self._kind} {quoted(self.extension_name)}"
        problem = f"{len(self.distributions)} distributions provide {what}"
        first = self.distributions[0].split(" ", 1)[0] if self.distributions else "NAME"
        name = f"{self.extension_point}.{self.extension_name}"
        help_ = f" Choose one: zarr_core.config.set(providers={{'{name}': '{first}'}})"
        if len({item.partition(" (")[0] for item in self.distributions}) == 1:
            problem, help_ = f"{first} provides {what} more than once", " It must be repaired."
        return f"{problem}: {'; '.join(self.distributions)}.{help_}"


class ExtensionLoadError(ExtensionError):
    """An installed extension cannot be imported, does not implement its interface, or fails.

    Parameters
    ----------
    target : str
        The value of the entry point, ``module:Class``.
    distribution : str
        Name and version of the distribution that declares it.
    reason, remedy : str
        The reason, and a remedy; the original exception is the cause.
    event : str
        What failed: loading the extension, or a call of its code.
    """

    def __init__(
        self,
        extension_point: str,
        extension_name: str,
        target: str,
        distribution: str,
        reason: str,
        remedy: str = "Repair, upgrade or remove that distribution",
        event: str = "failed to load",
    ) -> None:
        super().__init__(
            extension_point, extension_name, target, distribution, reason, remedy, event
        )
        self.extension_point, self.extension_name = extension_point, extension_name
        self.target, self.distribution = target, distribution
        self.reason, self.remedy, self.event = reason, remedy, event

    def _message(self) -> str:
        return (
            f"the {self._kind} {self.extension_name!r} is provided by "
            f"{self.distribution} as {self.target}, which {self.event}: {self.reason}. "
            f"{self.remedy}; other extensions are not affected."
        )


class ExtensionConfigurationError(ExtensionError, ValueError):
    """The configuration of a known extension is invalid.

    Parameters
    ----------
    location : Location or str
        Node and JSON pointer of the definition.
    problems : iterable of ValidationProblem
        All problems of the configuration.
    origin : str, optional
        Name and version of the distribution that provides the extension.
    hint : str, optional
        A remedy, such as another distribution that provides it.
    """

    def __init__(
        self,
        extension_point: str,
        extension_name: str,
        location: Location | str,
        problems: Iterable[ValidationProblem],
        origin: str = "",
        hint: str = "",
    ) -> None:
        location, problems = str(location), tuple(problems)
        super().__init__(extension_point, extension_name, location, problems, origin, hint)
        self.extension_point, self.extension_name = extension_point, extension_name
        self.location, self.problems = location, problems
        self.origin, self.hint = origin, hint

    def __str__(self) -> str:
        return "\n  ".join(filter(None, [super().__str__(), self.hint]))

    def _message(self) -> str:
        origin = f" of {self.origin}" if self.origin else ""
        return f"invalid configuration of {self._kind} {quoted(self.extension_name)}{origin}:"


# --- codecs and chunks ---


class CodecError(ZarrError):
    """A codec or a codec chain failed."""


class CodecChainError(CodecError, ValueError):
    """Codecs do not form a chain, or do not support the decoded representation."""


class ChunkDecodeError(CodecError, ValueError):
    """The bytes of a stored chunk cannot be decoded.

    Parameters
    ----------
    reason : str
        The problem.
    codec : str, optional
        Name of the codec.
    location : Location or str, optional
        Array and key; added by the engine.
    """

    def __init__(self, reason: str, codec: str = "", location: Location | str = "") -> None:
        location = str(location)
        super().__init__(reason, codec, location)
        self.reason, self.codec, self.location = reason, codec, location

    def located(self, location: Location | str) -> ChunkDecodeError:
        """Return the same error with a location, unless it has one."""
        return type(self)(self.reason, self.codec, self.location or location)

    def _message(self) -> str:
        codec = f" (codec {self.codec!r})" if self.codec else ""
        return (
            f"damaged chunk{codec}: {self.reason}. "
            "Other chunks remain readable; rewrite this chunk to repair it."
        )


class CodecFaultError(ChunkDecodeError):
    """The code of a codec failed while it decoded a chunk, which can be intact."""

    def _message(self) -> str:
        return (
            f"the codec {self.codec!r} failed to decode a chunk: {self.reason}. This is a "
            "mistake in the codec, or bytes that it does not recognize as damaged; report it to "
            "its authors before you replace the chunk."
        )


class ChecksumError(ChunkDecodeError):
    """A stored checksum does not match its data."""


class MissingChunkError(CodecError, LookupError):
    """A chunk is not stored, and the array was opened with ``missing_chunks="error"``.

    Parameters
    ----------
    location : Location or str
        Array and key; added by the engine.
    chunk : str
        The chunk, if it is not the whole value of the key, such as ``"inner chunk (0, 1)"``.
    """

    def __init__(self, location: Location | str = "", chunk: str = "") -> None:
        super().__init__(str(location), chunk)
        self.location, self.chunk = str(location), chunk

    def _message(self) -> str:
        return (
            f"{self.chunk or 'the chunk'} is not stored. "
            'Open the array with missing_chunks="fill" to read the fill value instead.'
        )


# --- stores ---


class StoreError(ZarrError):
    """An operation of a store failed.

    Parameters
    ----------
    reason : str
        The problem.
    store, key : str, optional
        The store, as its ``repr`` or URL; the key or prefix.
    """

    unconfirmed: tuple[str, ...] = ()
    """Keys of all values that a failed write of an array, or copy, does not confirm as stored.

    Old and new values are complete.  At most one million keys; empty for other calls.  An
    exception that interrupts a write, such as ``KeyboardInterrupt``, has the same attribute.
    """

    unanswered: bool = False
    """Whether the server did not answer within the limits: another request would take as long."""

    def __init__(self, reason: str, store: Any = "", key: str = "") -> None:
        self.reason, self.store, self.key = reason, str(store), key
        super().__init__(reason, self.store, key)
        self.location = " ".join(filter(None, [self.store, quoted(key, 500) if key else ""]))

    def _message(self) -> str:
        if len(self.unconfirmed) < 2:
            return self.reason
        return f"{self.reason}. {unconfirmed_note(self.unconfirmed)}"


def unconfirmed_note(keys: tuple[str, ...]) -> str:
    """Return a sentence about values that a failed or interrupted write may not have stored."""
    values = "1 value" if len(keys) == 1 else f"{len(keys):,} values"
    verb = "is" if len(keys) == 1 else "are"
    return (
        f"{values} of the same write {verb} not confirmed as stored: {listed(keys)}. "
        "Repeat the call."
    )


class StoreKeyError(StoreError, ValueError):
    """A key or prefix is invalid: empty, absolute, with ``..``, NUL or backslash ..."""


class StoreReadError(StoreError):
    """A value exists but cannot be read; it is not missing."""


class ValueReplacedError(StoreReadError):
    """A value was replaced while it was read in parts; read it again."""


class StoreReadOnlyError(StoreError, ValueError):
    """A store or node is open for reading only."""


class StoreCapabilityError(StoreError, TypeError):
    """The store does not support an operation: listing, removing, writing ..."""


# --- nodes ---


class NodeError(ZarrError):
    """Base class of errors of nodes.

    Parameters
    ----------
    location : Location or str
        Store and path of the node.
    reason : str
        The problem and a remedy.
    """

    def __init__(self, location: Location | str, reason: str = "") -> None:
        location = str(location)
        super().__init__(location, reason)
        self.location, self.reason = location, reason

    def _message(self) -> str:
        return self.reason


class NodeNotFoundError(NodeError, KeyError, ValueError):
    """No node exists at a path."""


class NodeExistsError(NodeError, ValueError):
    """A node, or an unmanaged key, already exists at a path."""


class NodeTypeError(NodeError, TypeError):
    """An array was found instead of a group, or a group instead of an array."""


class MetadataMismatchError(NodeTypeError, ValueError):
    """The metadata of an existing array are not as expected.

    Parameters
    ----------
    location : Location or str
        Store and path of the array.
    problems : iterable of ValidationProblem
        All differences, each with its JSON pointer: ``/shape: is [4], not [9]``.
    """

    def __init__(self, location: Location | str, problems: Iterable[ValidationProblem]) -> None:
        problems = tuple(problems)
        super().__init__(location)
        self.args = (self.location, problems)
        self.problems = problems

    def _message(self) -> str:
        count = len(self.problems)
        return (
            f"the array exists, but {count} "
            f"{'member of its metadata is' if count == 1 else 'members of its metadata are'} "
            "not as expected; pass the values that it has, or open it without these arguments:"
        )


class NodeNameError(NodeError, ValueError):
    """A node name or path is invalid (v3.1, "Node names")."""


# --- selections ---


class SelectionError(ZarrError, IndexError):
    """A selection does not fit the array.

    ``reason`` is the problem, ``shape`` the shape of the array.
    """

    def __init__(self, reason: str, shape: tuple[int, ...] | None = None) -> None:
        super().__init__(reason, shape)
        self.reason, self.shape = reason, shape

    def _message(self) -> str:
        return self.reason if self.shape is None else f"{self.reason} (array shape {self.shape})"
