"""What stores that other machines serve share: addresses, secrets, connections, second tries."""

from __future__ import annotations

import os
import random
import re
import threading
import time
import weakref
from abc import abstractmethod
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from zarr_core.extension import StoreError

from zarr_stores._database import KeyValueStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self
    from urllib.parse import SplitResult

T = TypeVar("T")

_HOST = re.compile(r"(?:\[[^\]]*\]|[^:]*)(?::\d*)?")
_PAUSE = 0.05  # seconds before the second try; each further pause is twice as long
_LONGEST_PAUSE = 1.0

_inherited: list[Any] = []


class ServerStore(KeyValueStore):
    """A store at an address.

    Parameters
    ----------
    url : str
        Where it is; a query gives further options.
    read_only : bool
        Refuse changes.
    password : str, optional
        What proves who we are, if the URL has none.  A store that was given one cannot be
        pickled.
    password_variable : str, optional
        Name of the environment variable that has the password; read for each connection.
    timeout, connect_timeout : float
        Seconds without an answer, without a connection, after which it is given up.
    retries : int
        How often a request that may be repeated is, after the connection was lost.
    requests : int, optional
        How many requests to keep in flight, each but with SFTP on a connection of its own.
    **options
        What the client library takes besides.
    """

    schemes: ClassVar[tuple[str, ...]]
    """The schemes of its URLs."""

    port: ClassVar[int]
    """The usual port, which URLs need not name."""

    place: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Options that say where in the server, with what they are if not given."""

    kept: ClassVar[frozenset[str]] = frozenset()
    """Further options that are part of the URL."""

    secrets: ClassVar[frozenset[str]] = frozenset({"password"})
    """Options that are kept to oneself, in small letters."""

    secret_from: ClassVar[str] = "password_variable='NAME', the name of an environment variable"
    """What to give instead of a secret, for pickles."""

    library: ClassVar[str]
    """What has to be installed."""

    def __init__(
        self,
        url: str,
        read_only: bool = False,
        *,
        password_variable: str | None = None,
        timeout: float = 60.0,
        connect_timeout: float = 10.0,
        retries: int = 5,
        requests: int | None = None,
        **options: Any,
    ) -> None:
        parts = _parts(url, self.schemes)
        user, _, self._hosts = parts.netloc.rpartition("@")
        name, _, password = user.partition(":")
        self.scheme = parts.scheme
        self.user = unquote(name)
        """Who we are; empty for whoever runs this."""
        self.read_only = read_only
        self._hosts = self._hosts.lower().removesuffix(f":{self.port}")
        self._path = unquote(parts.path)
        given = {**dict(parse_qsl(parts.query, keep_blank_values=True)), **options}

        def number(kind: Callable[[Any], Any], option: str, usual: Any) -> Any:
            try:
                return kind(given.pop(option, usual))
            except ValueError:
                raise StoreError(f"the option {option} is not a number") from None

        self._timeout = number(float, "timeout", timeout)
        self._connect_timeout = number(float, "connect_timeout", connect_timeout)
        self._retries = number(int, "retries", retries)
        if requests is not None or "requests" in given:
            self.requests = max(1, number(int, "requests", requests))
        self._variable = given.pop("password_variable", password_variable)
        if password:
            given["password"] = unquote(password)
        hidden = [word for word in given if word.lower() in self.secrets]
        self._secrets = {word: given.pop(word) for word in hidden}
        self._place = {word: str(given.pop(word, usual)) for word, usual in self.place.items()}
        self._options = given
        self._resources: Any = None
        self._closing: weakref.finalize[..., Any] | None = None
        self._process = 0
        self._opening = threading.Lock()

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from its URL.

        Parameters
        ----------
        url : str
            Percent signs are escapes.
        read_only : bool
            Refuse changes.
        **options
            Further arguments of the class.
        """
        return cls(url, read_only, **options)

    # --- where ---

    @property
    def url(self) -> str:
        user = f"{quote(self.user)}@" if self.user else ""
        chosen = {word: it for word, it in self._place.items() if it != self.place[word]}
        chosen |= {word: self._options[word] for word in self._options if word in self.kept}
        query = f"?{urlencode(chosen, quote_via=quote)}" if chosen else ""
        return f"{self.scheme}://{user}{self._hosts}{quote(self._path)}{query}"

    def _where(self) -> tuple[Any, ...]:
        return type(self), self._hosts, self._path, *self._place.values()

    def __eq__(self, other: object) -> bool:
        return self._where() == other._where() if isinstance(other, ServerStore) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._where())

    def __repr__(self) -> str:
        read_only = ", read_only=True" if self.read_only else ""
        return f"{type(self).__name__}({self.url!r}{read_only})"

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        if self._secrets:
            raise StoreError(
                f"a store that was given its {' and '.join(sorted(self._secrets))} cannot be "
                f"pickled, as anyone could read that there; give {self.secret_from}",
                self,
            )
        options: dict[str, Any] = {
            word: it for word, it in self._options.items() if word not in self.kept
        }
        if self._variable:
            options["password_variable"] = self._variable
        options["timeout"], options["connect_timeout"] = self._timeout, self._connect_timeout
        options["retries"] = self._retries
        if "requests" in vars(self):  # not those of the class
            options["requests"] = self.requests
        return partial(type(self), self.url, self.read_only, **options), ()

    def _password(self) -> str | None:
        """What proves who we are, now."""
        if self._variable is None:
            return self._secrets.get("password")
        try:
            return os.environ[self._variable]
        except KeyError:
            reason = f"the environment variable {self._variable}, for the password, is not set"
            raise StoreError(reason, self) from None

    # --- connections ---

    @abstractmethod
    def _connect(self) -> Any:
        """What this process has open; connections themselves may be made later."""

    @staticmethod
    def _disconnect(resources: Any) -> None:
        """Close what this process has open."""

    def _opened(self) -> Any:
        # What was inherited by a fork belongs to the parent, and not even ends here.
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
                    reason = f"needs {self.library}: pip install zarr-stores[{self.schemes[0]}]"
                    raise StoreError(reason, self) from error
                arguments = os.getpid(), self._disconnect, self._resources
                self._closing = weakref.finalize(self, _end, *arguments)
            return self._resources

    def close(self) -> None:
        """Close the connections; what is used again afterwards connects again."""
        if self._process == os.getpid() and self._closing is not None:
            self._resources = None
            self._closing()

    @abstractmethod
    def failures(self) -> tuple[type[BaseException], ...]:
        """What the client library raises."""

    @abstractmethod
    def is_lost(self, error: BaseException) -> bool:
        """Whether the same request may be answered by another connection."""

    def _reason(self, error: BaseException) -> str:
        """What an error of the client library says."""
        return _said(error)

    def ask(
        self, key: str, kind: type[StoreError], done: str, work: Callable[[], T], again: bool = True
    ) -> T:
        """Do something with the server, naming store and key if that fails.

        Parameters
        ----------
        key : str
            What it is about.
        kind : type
            The class of errors.
        done : str
            What could not be done, if so: ``"read"``.
        work : callable
            What to do.
        again : bool
            Whether it may be repeated if the connection is lost on the way: the server
            may have done it.
        """
        attempt, began = 0, time.monotonic()
        while True:
            try:
                return work()
            except self.failures() as error:
                lost = self.is_lost(error)
                late = time.monotonic() - began > self._timeout
                if late or not (again and lost) or attempt >= self._retries:
                    raise self._failure(error, key, kind, done, lost and not again) from error
            time.sleep(min(_LONGEST_PAUSE, _PAUSE * 2**attempt) * random.uniform(0.5, 1))
            attempt += 1

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str, unsure: bool
    ) -> StoreError:
        reason = f"cannot be {done}: {self._reason(error)}"
        if unsure:
            reason += ". The connection was lost on the way; whether it was done is not known"
        return kind(reason, self, key)


def _parts(url: str, schemes: tuple[str, ...]) -> SplitResult:
    """The parts of a URL; errors do not repeat it, as it may have a password anywhere."""
    reason = f"not a URL that begins with {'://, '.join(schemes)}://"
    try:
        parts = urlsplit(url)
        if parts.scheme in schemes:
            hosts = parts.netloc.rpartition("@")[2].split(",")
            behind = f"{parts.path}{parts.query}"
            if not (parts.fragment or "@" in behind) and all(map(_HOST.fullmatch, hosts)):
                return parts
            reason = (
                "not host:port, or a sign has another meaning where it stands in the URL: "
                "/ ? # @ : in a name or password are written %2F %3F %23 %40 %3A"
            )
    except ValueError:
        pass
    raise StoreError(reason, f"{schemes[0]}://...")


def _end(process: int, disconnect: Callable[[Any], None], resources: Any) -> None:
    if process == os.getpid():
        disconnect(resources)


def _said(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
