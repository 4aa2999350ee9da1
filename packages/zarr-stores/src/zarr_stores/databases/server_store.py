"""Base class of stores on servers: URLs, credentials, connections and retries.

Retries are not left to ``tenacity`` or the client libraries: the time limit depends on whether the
server has ever answered, and a change is repeated only where it cannot be made twice.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from abc import abstractmethod
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from zarr_core.extension import KeyValueStore, Store, StoreError
from zarr_core.messages import log
from zarr_core.threads import waiting

from zarr_stores._attempts import CONNECT_SECONDS, FINAL, RETRY_SECONDS, Attempts, reached
from zarr_stores.remedies import remedy
from zarr_stores.secrets import check_pickle, names_of_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self
    from urllib.parse import SplitResult

T = TypeVar("T")

_HOST = re.compile(r"(?:\[[^\]]*\]|[^:]*)(?::\d*)?")

_inherited: list[Any] = []


class ServerStore(KeyValueStore):
    """A store on a server."""

    schemes: ClassVar[tuple[str, ...]]
    """Schemes of the URLs."""

    port: ClassVar[int]
    """Default port."""

    location_options: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Options that select a location on the server, with their defaults."""

    url_options: ClassVar[frozenset[str]] = frozenset()
    """Other options that are part of the URL."""

    secrets: ClassVar[frozenset[str]] = frozenset({"password"})
    """Names of secret options, in lower case."""

    secret_hint: ClassVar[str] = "password_variable='NAME', the name of an environment variable"
    """What to pass instead of a secret, so that the store can be pickled."""

    library: ClassVar[str]
    """Name of the client library."""

    product: ClassVar[str]
    """Name of the server, for messages."""

    largest_value: ClassVar[int]
    """Largest length of a value in bytes."""

    def __init__(
        self,
        url: str,
        read_only: bool = False,
        *,
        password_variable: str | None = None,
        timeout: float = 60.0,
        connect_timeout: float = CONNECT_SECONDS,
        retry_timeout: float = 60.0,
        max_concurrency: int | None = None,
        **options: Any,
    ) -> None:
        parts = _parts(url, self.schemes)
        user, _, self._hosts = parts.netloc.rpartition("@")
        name, _, password = user.partition(":")
        self.scheme = parts.scheme
        self.user = unquote(name)
        """User name; empty for the default user."""
        self.read_only = read_only
        self._hosts = self._hosts.lower().removesuffix(f":{self.port}")
        self._path = unquote(parts.path)
        merged = {**dict(parse_qsl(parts.query, keep_blank_values=True)), **options}

        def number(kind: Callable[[Any], Any], option: str, usual: Any) -> Any:
            try:
                return kind(merged.pop(option, usual))
            except ValueError:
                raise StoreError(f"the option {option} is not a number") from None

        self._timeout = number(float, "timeout", timeout)
        self._connect_timeout = number(float, "connect_timeout", connect_timeout)
        self._retry_timeout = number(float, "retry_timeout", retry_timeout)
        if max_concurrency is not None or "max_concurrency" in merged:
            self.max_concurrency = max(1, number(int, "max_concurrency", max_concurrency))
        self._variable = merged.pop("password_variable", password_variable)
        if password:
            merged["password"] = unquote(password)
        hidden = [word for word in merged if word.lower() in self.secrets]
        self._secrets = {word: merged.pop(word) for word in hidden}
        self._location = {
            word: str(merged.pop(word, usual)) for word, usual in self.location_options.items()
        }
        self._options = merged  # the client library rejects those that it does not know
        self._server = type(self), self._hosts
        self._resources: Any = None
        self._closing: weakref.finalize[..., Any] | None = None
        self._process = 0
        self._opening = threading.Lock()

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from its URL."""
        return cls(url, read_only, **options)

    # --- location ---

    @property
    def url(self) -> str:
        user = f"{quote(self.user)}@" if self.user else ""
        chosen = {
            word: value
            for word, value in self._location.items()
            if value != self.location_options[word]
        }
        chosen |= {word: self._options[word] for word in self._options if word in self.url_options}
        query = f"?{urlencode(chosen, quote_via=quote)}" if chosen else ""
        return f"{self.scheme}://{user}{self._hosts}{quote(self._path)}{query}"

    def _identity(self) -> tuple[Any, ...]:
        return type(self), self._hosts, self._path, *self._location.values()

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        # A misspelled password is an option that no server has seen yet.
        names = {*self._secrets, *names_of_secrets(self._options)}
        check_pickle(self, names, f"pass {self.secret_hint}")
        options: dict[str, Any] = {
            word: value for word, value in self._options.items() if word not in self.url_options
        }
        if self._variable:
            options["password_variable"] = self._variable
        options["timeout"], options["connect_timeout"] = self._timeout, self._connect_timeout
        options["retry_timeout"] = self._retry_timeout
        if "max_concurrency" in vars(self):  # not the default of the class
            options["max_concurrency"] = self.max_concurrency
        return partial(type(self), self.url, self.read_only, **options), ()

    def _password(self) -> str | None:
        """Return the current password."""
        if self._variable is None:
            return self._secrets.get("password")
        try:
            return os.environ[self._variable]
        except KeyError:
            reason = f"the environment variable {self._variable} with the password is not set"
            raise StoreError(reason, self) from None

    set_values = Store.set_values  # concurrently

    def _check_size(self, key: str, data: bytes) -> None:
        if len(data) > self.largest_value:
            raise StoreError(
                f"the value has {len(data):,} bytes; {self.product} supports at most "
                f"{self.largest_value:,}: use smaller chunks or shards",
                self,
                key,
            )

    # --- connections ---

    @abstractmethod
    def _connect(self) -> Any:
        """Return the client or connection pool of this process; it may connect later."""

    @staticmethod
    def _disconnect(resources: Any) -> None:
        """Close the client or connection pool of this process."""

    def _opened(self) -> Any:
        # Resources inherited by a fork belong to the parent: they are kept but never closed.
        if self._process == os.getpid():
            resources = self._resources
            if resources is not None:
                return resources
        else:
            self._opening = threading.Lock()
            _inherited.append(self._resources)
            self._resources, self._process = None, os.getpid()
        with self._opening:
            if self._resources is None:
                try:
                    self._resources = self._connect()
                except ImportError as error:
                    extra = self.schemes[0]
                    reason = (
                        f"{extra} stores require the package {self.library}, which cannot be "
                        f"imported ({error}): pip install 'zarr-stores[{extra}]'"
                    )
                    raise StoreError(reason, self) from error
                arguments = os.getpid(), self._disconnect, self._resources
                self._closing = weakref.finalize(self, _close_resources, *arguments)
            return self._resources

    def close(self) -> None:
        """Close the connections.  The store reconnects at its next use."""
        if self._process == os.getpid() and self._closing is not None:
            self._resources = None
            self._closing()

    @abstractmethod
    def is_lost(self, error: BaseException) -> bool:
        """Return whether the request may succeed on another connection."""

    def _reason(self, error: BaseException) -> str:
        """Return the message of an error of the client library."""
        return _message(error)

    def request(
        self, key: str, kind: type[StoreError], done: str, work: Callable[[], T], again: bool = True
    ) -> T:
        """Send a request, retry it if possible, and add store and key to errors.

        If the connection is lost while the server may already have processed the request, it is
        repeated only if ``again`` is true.
        """
        with waiting(self):
            return self._request(key, kind, done, work, again)

    def _request(
        self, key: str, kind: type[StoreError], done: str, work: Callable[[], T], again: bool
    ) -> T:
        attempts = Attempts(self._retry_timeout)
        while True:
            try:
                result = work()
                reached.add(self._server)
                return result
            except StoreError:
                raise  # _failures() imports the library, which may not be installed
            except self._failures() as error:
                lost, limit = self.is_lost(error), self._retry_timeout
                if not lost:
                    if getattr(error, "sqlstate", "") is not None:  # not from psycopg itself
                        reached.add(self._server)
                elif self._server not in reached:
                    limit = 0.0 if FINAL.search(str(error)) else RETRY_SECONDS
                if not (again and lost and attempts.again(limit)):
                    failure = self._failure(error, key, kind, done)
                    if lost:
                        retries, passed = attempts.retries, attempts.passed
                        failure = self._with_limits(failure, retries, passed, not again)
                        failure.unanswered = True
                    raise failure from error
                log("retries", "%s %r cannot be %s (%s); repeating the request",
                    self, key, done, self._reason(error),
                )  # fmt: skip

    def _with_limits(
        self, failure: StoreError, retries: int, seconds: float, unsure: bool
    ) -> StoreError:
        """Add the number of retries and the options that limit them to an error."""
        reason = failure.reason
        if unsure:
            reason += (
                ". The connection was lost; it is unknown whether the server completed the request"
            )
        plural = "y" if retries == 1 else "ies"
        reason += f", after {retries} retr{plural} in" if retries else ", after"
        reason += f" {seconds:.0f} s"
        reason += (
            "; check the server and repeat the call; the limits in seconds are "
            f"timeout={self._timeout:g}, connect_timeout={self._connect_timeout:g} and "
            f"retry_timeout={self._retry_timeout:g}"
        )
        return type(failure)(reason, failure.store, failure.key)

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str
    ) -> StoreError:
        message = self._reason(error)
        reason = f"cannot be {done}: {message}"
        if advice := remedy(message):
            reason += f"; {advice}"
        return kind(reason, self, key)


def _parts(url: str, schemes: tuple[str, ...]) -> SplitResult:
    """Split a URL; errors do not contain it, because it may contain a password anywhere."""
    reason = f"the URL must begin with {'://, '.join(schemes)}://"
    try:
        parts = urlsplit(url)
        if parts.scheme in schemes:
            hosts = parts.netloc.rpartition("@")[2].split(",")
            behind = f"{parts.path}{parts.query}"
            if not (parts.fragment or "@" in behind) and all(map(_HOST.fullmatch, hosts)):
                return parts
            reason = (
                "the URL is not valid: write host:port, and escape / ? # @ : in a user name or "
                "password as %2F %3F %23 %40 %3A"
            )
    except ValueError:
        pass
    raise StoreError(reason, f"{schemes[0]}://...")


def _close_resources(process: int, disconnect: Callable[[Any], None], resources: Any) -> None:
    if process == os.getpid():
        disconnect(resources)


def _message(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
