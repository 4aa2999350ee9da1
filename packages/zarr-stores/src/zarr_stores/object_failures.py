"""What went wrong in an object store, as an error without secrets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import Any

    from zarr_core.extension import StoreError

# What services say of a bucket that is not there, all with the status of a missing key.
_PLACES: Final = re.compile(
    r"<Code>(?:NoSuchBucket|ContainerNotFound|ContainerBeingDeleted|ResourceNotFound|"
    r"AccountNotFound|FilesystemNotFound)</Code>|"
    r"The specified (?:bucket|container) does not exist",
    re.IGNORECASE,
)
_KEYS: Final = re.compile(r"<Code>(?:NoSuchKey|BlobNotFound)</Code>")
_STATUS: Final = re.compile(r"status code: (\d{3}[^:\n]*)")
_RETRIED: Final = re.compile(r"after ([1-9]\d*) retries")
_CAUSES: Final = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (
            r"InvalidCertificate\(\s*(\w+)",
            r"the certificate of the server is not valid (\1); "
            "the environment variable SSL_CERT_FILE may name a file of authorities to trust",
        ),
        (r"InvalidMessage\(", "the server does not speak TLS: http://, not https://?"),
        (r"IncompleteMessage", "the connection was closed before there was an answer"),
        (r"source: TimedOut", "there was no answer in time"),
        (r'(?:message|error): "([^"]{1,200})"', r"\1"),
    )
)
_SENT: Final = re.compile(r"\bError performing (?:PUT|POST)\b")
_UNCONNECTED: Final = re.compile(r"\bkind: Connect\b|: builder error")
_REFUSALS: Final = re.compile(r"<Code>(?:SlowDown|ServerBusy|ServiceUnavailable)</Code>")
_CODE: Final = re.compile(r"<Code>([^<]{1,80})</Code>")
_MESSAGE: Final = re.compile(r"<Message>([^<]{1,300})")
# An address may have a password in front of the host, and a signature behind "?".
_USER: Final = re.compile(r"(?<=://)[^/@\s]*@")
_QUERY: Final = re.compile(r"(?<=[\w/%.~*-])\?[^\s\"')>,]*")
# obstore lists nothing at all beside objects that it has no path for.
_FOREIGN: Final = re.compile(r'object with invalid path: (?:Error parsing )?Path "([^"]*)"')
_CREDENTIALS: Final = (
    "check the credentials: what the service's own tools find in the environment, "
    "or storage_options"
)
_ADVICE: Final = {"PermissionDeniedError": _CREDENTIALS, "UnauthenticatedError": _CREDENTIALS}


def is_missing(error: BaseException) -> bool:
    """Whether the service answered that there is nothing."""
    return isinstance(error, FileNotFoundError) or type(error).__name__ == "NotFoundError"


def place_is_missing(error: BaseException) -> bool:
    """Whether the bucket is what is not there; to a HEAD services do not say."""
    return bool(_PLACES.search(str(error)))


def place_is_there(error: BaseException) -> bool:
    """Whether the service said that it is the key that is not there."""
    return bool(_KEYS.search(str(error)))


def is_conflict(error: BaseException) -> bool:
    """Whether a condition of the request did not hold."""
    # obstore takes it for one, too, that the bucket is missing.
    name = type(error).__name__
    return name in ("PreconditionError", "AlreadyExistsError") and not place_is_missing(error)


def is_missing_key(error: BaseException) -> bool:
    """Whether there is no such key, in a bucket that is there."""
    return is_missing(error) and not place_is_missing(error)


def may_be_done(error: BaseException) -> bool:
    """Whether a write that failed may have been carried out, by this request or one it repeats."""
    text = str(error)
    if _RETRIED.search(text):
        return True
    status = _STATUS.search(text)
    if status is not None:
        return status[1].startswith("5") and not _REFUSALS.search(text)
    return is_lost(error)


def is_lost(error: BaseException) -> bool:
    """Whether a request was sent, nothing was answered, and the library left it at that."""
    text = str(error)
    answered = _STATUS.search(text) or _RETRIED.search(text)
    return bool(_SENT.search(text)) and not (answered or _UNCONNECTED.search(text))


def is_unsupported(error: BaseException) -> bool:
    """Whether this kind of store cannot do what it was asked."""
    return isinstance(error, NotImplementedError) or type(error).__name__ == "NotSupportedError"


def is_about_range(error: BaseException) -> bool:
    """Whether a range was answered that is not the one asked for, or none at all."""
    if type(error).__name__ == "NotSupportedError":
        return True
    text = str(error).partition("Debug source")[0]
    return type(error).__name__ == "GenericError" and (
        "416 " in text
        or "non-partial response" in text
        or "CONTENT_RANGE" in text
        or "Wanted range starting" in text
    )


def is_race(error: BaseException) -> bool:
    """Whether a server of files had trouble with a directory that had to be made."""
    status = _STATUS.search(str(error))
    return status is not None and status[1][:3] in ("404", "405", "409", "500")


def failure(
    kind: type[StoreError], done: str, error: BaseException, store: Any, key: str
) -> StoreError:
    """The error to raise in place of one of the library.

    Parameters
    ----------
    kind : type
        The class.
    done : str
        What was being done: ``"read"``.
    error : BaseException
        What the library raised; not to be chained, as its text may have secrets.
    store, key
        Where.
    """
    said = reason(error)
    advice = _ADVICE.get(type(error).__name__)
    if place_is_missing(error):
        said = f"the bucket or container does not exist ({said})"
    elif foreign := _FOREIGN.search(str(error)):
        said = f"someone has stored {foreign[1]!r} there, which can be no key"
        scheme = str(store).partition("://")[0]
        advice = f"remove it, or open the place as fsspec+{scheme}://..., which leaves it out"
    return kind(f"cannot be {done}: {said}" + (f"; {advice}" if advice else ""), store, key)


def reason(error: BaseException) -> str:
    """What an error says, in short, without addresses that sign."""
    text = str(error).partition("Debug source")[0].strip()
    status, code = _STATUS.search(text), _CODE.search(text)
    if status is not None:
        parts = [status[1].strip(), code[1] if code else "", _said(text)]
        if retried := _RETRIED.search(text):
            parts.append(f"after {retried[1]} retries")
        return ", ".join(part for part in parts if part)
    said = without_secrets(" ".join(text.split()))[:300] or type(error).__name__
    cause = _cause(str(error))
    return f"{said}: {cause}" if cause else said


def _cause(text: str) -> str:
    """What is behind "error sending request", of which the library tells developers alone."""
    for pattern, words in _CAUSES:
        if found := pattern.search(text):
            return without_secrets(found.expand(words))
    return ""


def _said(text: str) -> str:
    message = _MESSAGE.search(text)
    return message[1].splitlines()[0].strip().rstrip(".") if message else ""


def without_secrets(text: str) -> str:
    """A text whose addresses have neither user nor query."""
    return _QUERY.sub("", _USER.sub("", text))
