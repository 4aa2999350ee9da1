"""Classification of errors of obstore, and messages without secrets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from zarr_core.extension import StoreReadError

from zarr_stores._attempts import FINAL
from zarr_stores.remedies import DENIED_IS_MISSING, remedy

if TYPE_CHECKING:
    from typing import Any

    from zarr_core.extension import StoreError

# Responses for a missing bucket, all with the status of a missing key.
_MISSING_BUCKET: Final = re.compile(
    r"<Code>(?:NoSuchBucket|ContainerNotFound|ContainerBeingDeleted|ResourceNotFound|"
    r"AccountNotFound|FilesystemNotFound)</Code>|"
    r"The specified (?:bucket|container) does not exist",
    re.IGNORECASE,
)
_MISSING_KEY: Final = re.compile(r"<Code>(?:NoSuchKey|BlobNotFound)</Code>")
_STATUS: Final = re.compile(r"status code: (\d{3}[^:\n]*)")
_RETRIED: Final = re.compile(r"after ([1-9]\d*) retries")
_CAUSES: Final = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (
            r"InvalidCertificate\(\s*(\w+)",
            r"the certificate of the server is not valid (\1); "
            "set the environment variable SSL_CERT_FILE to a file of trusted authorities",
        ),
        (r"UnexpectedMessage|hyper::Error\(\s*Parse", "the server does not speak HTTP"),
        (r"InvalidMessage\(", "the server does not support TLS; use http:// instead of https://"),
        (r"IncompleteMessage", "the connection was closed before a response was received"),
        (
            r"(?:source|kind): TimedOut",
            "the request timed out; the options timeout and connect_timeout set the limits",
        ),
        (r'(?:message|error): "([^"]{1,200})"', r"\1"),
    )
)
# Without retries if the first request took longer than they may.
_UNANSWERED: Final = re.compile(r"HTTP error: error sending request")
_TOKEN: Final = re.compile(
    r"\bError performing token request\b|/meta-data/iam/security-credentials/"
)
_FINAL: Final = re.compile(
    rf"{FINAL.pattern}|UnexpectedMessage|hyper::Error\(\s*Parse|: builder error|kind: Timeout"
)
_SENT: Final = re.compile(r"\bError performing (?:PUT|POST)\b")
_LOST: Final = re.compile(
    r"error sending request|: builder error|source: TimedOut|\bkind: (?:Connect|Timeout)\b"
)
_DIRECTORY: Final = re.compile(r"\bError performing MKCOL\b")
_UNCONNECTED: Final = re.compile(r"\bkind: Connect\b|: builder error")
_REFUSALS: Final = re.compile(r"<Code>(?:SlowDown|ServerBusy|ServiceUnavailable)</Code>")
_ELSEWHERE: Final = re.compile(
    r"<Code>(?:PermanentRedirect|TemporaryRedirect|AuthorizationHeaderMalformed|"
    r"IllegalLocationConstraintException)</Code>|status code: 307"
)
_DENIED: Final = re.compile(r"status code: 40[13]\b")  # listings have no class of their own
_CODE: Final = re.compile(r"<Code>([^<]{1,80})</Code>")
_MESSAGE: Final = re.compile(r"<Message>([^<]{1,300})")
# A URL may contain a password before the host, and a signature after "?".
_USER: Final = re.compile(r"(?<=://)[^/@\s]*@")
_QUERY: Final = re.compile(r"(?<=[\w/%.~*-])\?[^\s\"')>,]*")
# A listing of obstore fails if it contains an object whose path is not valid for obstore.
_INVALID_NAME: Final = re.compile(r'object with invalid path: (?:Error parsing )?Path "([^"]*)"')
CREDENTIALS: Final = (
    "check the credentials in the environment or in files, as for the service's own tools, or in "
    "storage_options; for public data, pass storage_options={'anon': True}"
)
ANONYMOUS: Final = (
    "the request was anonymous, because no credentials were found or none were to be used; provide "
    "credentials in the environment or in files, as for the service's own tools, or in "
    "storage_options"
)
SIGNED_URL: Final = (
    "the URL has a query, such as the signature of a presigned URL, which may have expired or not "
    "permit this; create the URL again"
)
WEB: Final = (
    "if the server requires credentials, pass them in storage_options: "
    "{'client_options': {'default_headers': {'Authorization': ...}}}"
)
NEVER_ANSWERED: Final = (
    "the server has not answered any request of this process, so this one was given up after "
    "{:.1f} s; check the address and the network, or pass retry_timeout and connect_timeout"
)
_RETRY_ADVICE: Final = (
    "check the server and repeat the call; the option retry_timeout sets for how long requests "
    "are repeated"
)
_DENIALS: Final = ("PermissionDeniedError", "UnauthenticatedError")


def is_denied(error: BaseException) -> bool:
    """Return whether the service answered with status 403."""
    return type(error).__name__ == "PermissionDeniedError"


def bucket_is_missing(error: BaseException) -> bool:
    """Return whether an error means that the bucket is missing; HEAD does not report it."""
    return bool(_MISSING_BUCKET.search(str(error)))


def bucket_exists(error: BaseException) -> bool:
    """Return whether an error means that the key is missing and the bucket exists."""
    return bool(_MISSING_KEY.search(str(error)))


def is_conflict(error: BaseException) -> bool:
    """Return whether a condition of the request failed."""
    # obstore raises the same exceptions if the bucket is missing.
    name = type(error).__name__
    return name in ("PreconditionError", "AlreadyExistsError") and not bucket_is_missing(error)


def is_missing_key(error: BaseException) -> bool:
    """Return whether the key is missing, and not the bucket."""
    missing = isinstance(error, FileNotFoundError) or type(error).__name__ == "NotFoundError"
    return missing and not bucket_is_missing(error)


def may_be_completed(error: BaseException) -> bool:
    """Return whether a failed write may have been completed, by this request or a retried one."""
    text = str(error)
    if _RETRIED.search(text):
        return True
    status = _STATUS.search(text)
    if status is not None:
        refused = is_not_implemented(error) or _REFUSALS.search(text)
        return status[1].startswith("5") and not refused
    return is_lost(error)


def is_lost(error: BaseException) -> bool:
    """Return whether a request was sent, got no response, and was not retried."""
    text = str(error)
    answered = _STATUS.search(text) or _RETRIED.search(text)
    return bool(_SENT.search(text)) and not (answered or _UNCONNECTED.search(text))


def may_be_elsewhere(error: BaseException) -> bool:
    """Return whether a bucket of S3 may be in another region than the request was sent to."""
    text = str(error).partition("Debug source")[0]
    status = _STATUS.search(text)
    if status is None:
        return "redirect without LOCATION" in text
    # The response to HEAD has no body that would tell.
    return bool(_ELSEWHERE.search(text)) or (
        status[1].startswith("400") and "performing HEAD" in text
    )


def is_answered(error: BaseException) -> bool:
    """Return whether the service itself answered the request."""
    text = str(error)
    return not (_TOKEN.search(text) or _LOST.search(text))


def is_not_implemented(error: BaseException) -> bool:
    """Return whether the server does not support the method of a request."""
    return "status code: 501" in str(error)


def is_unconnected(error: BaseException) -> bool:
    """Return whether a request was not sent, because there was no connection."""
    return bool(_UNCONNECTED.search(str(error)))


def is_overloaded(error: BaseException) -> bool:
    """Return whether a service asks to repeat a request later, or failed itself."""
    return bool(re.search(r"status code: (?:429|5(?!01)\d\d)\b", str(error)))


def is_final(error: BaseException) -> bool:
    """Return whether the next attempt to reach a server would fail for the same reason."""
    text = str(error)
    return bool(_FINAL.search(text) or (_TOKEN.search(text) and _STATUS.search(text)))


def is_unsupported(error: BaseException) -> bool:
    """Return whether the operation is not supported by the service."""
    return isinstance(error, NotImplementedError) or type(error).__name__ == "NotSupportedError"


def is_without_range(error: BaseException) -> bool:
    """Return whether the service ignored a range and sends the whole value."""
    text = str(error).partition("Debug source")[0]
    return type(error).__name__ == "NotSupportedError" or "non-partial response" in text


def is_about_range(error: BaseException) -> bool:
    """Return whether the service rejected a range, or returned another one."""
    if is_without_range(error):
        return True
    text = str(error).partition("Debug source")[0]
    return type(error).__name__ == "GenericError" and (
        "416 " in text or "CONTENT_RANGE" in text or "Wanted range starting" in text
    )


def is_race(error: BaseException) -> bool:
    """Return whether a WebDAV server failed to create a directory, as in a race or a restart."""
    text = str(error)
    status = _STATUS.search(text)
    if status is None:
        # obstore does not repeat a MKCOL that got no response.
        final = _RETRIED.search(text) or _UNCONNECTED.search(text)
        return bool(_DIRECTORY.search(text)) and not final
    return status[1][:3] in ("404", "405", "409", "500")


def failure(
    kind: type[StoreError],
    done: str,
    error: BaseException,
    store: Any,
    key: str,
    denied: str = CREDENTIALS,
) -> StoreError:
    """Return the error to raise instead of an exception of obstore."""
    message = reason(error)
    advice = None
    if type(error).__name__ in _DENIALS or _DENIED.search(str(error)):
        may_be_missing = kind is StoreReadError and is_denied(error)
        advice = f"{denied}; {DENIED_IS_MISSING}" if may_be_missing else denied
    if notes := getattr(error, "__notes__", ()):
        advice = "; ".join(notes)
    elif _RETRIED.search(str(error)) or _UNANSWERED.search(str(error)):
        advice = advice or _RETRY_ADVICE
    advice = remedy(str(error).partition("Debug source")[0]) or advice
    if _TOKEN.search(str(error)):
        message = f"no credentials were found, and the machine provides none ({message})"
        advice = denied
    elif bucket_is_missing(error):
        message = f"the bucket or container does not exist ({message})"
    elif foreign := _INVALID_NAME.search(str(error)):
        message = f"the object {foreign[1]!r} has a name that is not a valid key"
        scheme = str(store).partition("://")[0]
        advice = f"remove it, or open the store as fsspec+{scheme}://..., which ignores it"
    failed = kind(f"cannot be {done}: {message}" + (f"; {advice}" if advice else ""), store, key)
    failed.unanswered = not is_answered(error)
    return failed


def reason(error: BaseException) -> str:
    """Return a short message of an error, without signed URLs."""
    text = str(error).partition("Debug source")[0].strip()
    status, code = _STATUS.search(text), _CODE.search(text)
    if status is not None:
        parts = [status[1].strip(), code[1] if code else "", _said(text)]
        if retried := _RETRIED.search(text):
            parts.append(f"after {retried[1]} retries")
        return ", ".join(part for part in parts if part)
    message = without_secrets(" ".join(text.split()))[:300] or type(error).__name__
    cause = _cause(str(error))
    return f"{message}: {cause}" if cause else message


def _cause(text: str) -> str:
    """Return the cause of "error sending request" from the debug text of the library."""
    for pattern, words in _CAUSES:
        if match := pattern.search(text):
            return without_secrets(match.expand(words))
    return ""


def _said(text: str) -> str:
    message = _MESSAGE.search(text)
    return message[1].splitlines()[0].strip().rstrip(".") if message else ""


def without_secrets(text: str) -> str:
    """Return a text with user and query removed from all URLs."""
    return _QUERY.sub("", _USER.sub("", text))
