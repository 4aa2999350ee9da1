"""How a place is given on the command line."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import click

from zarr_cli.path_completion import complete

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zarr_core import Array, Group, Store


@dataclass(frozen=True, slots=True)
class Place:
    """A store, with a path in it.

    Parameters
    ----------
    url : str
        A path or URL, as :func:`zarr_core.open` takes it.
    path : str
        Path of a node in the store: what stands behind ``#``.
    storage_options : mapping
        Further arguments for the store.
    zarr_format : int, str or None
        The only format that is accepted.
    """

    url: str
    path: str = ""
    storage_options: Mapping[str, Any] = field(default_factory=dict)
    zarr_format: int | str | None = None

    def __str__(self) -> str:
        return f"{self.url}#{self.path}" if self.path else self.url

    def open(self, mode: Literal["r", "r+"] = "r", **options: Any) -> Array | Group:
        """Open the node; further arguments as for :func:`zarr_core.open`."""
        import zarr_core  # noqa: PLC0415 - lazy: not for help

        return zarr_core.open(
            self.url,
            mode,
            path=self.path,
            zarr_format=self.zarr_format,
            storage_options=self.storage_options,
            **options,
        )

    def open_array(self, mode: Literal["r", "r+"] = "r") -> Array:
        """Open the node.

        Raises
        ------
        Failure
            If it is a group.
        """
        from zarr_core import Array  # noqa: PLC0415 - as above

        from zarr_cli.failing import Failure  # noqa: PLC0415 - only here

        node = self.open(mode)
        if not isinstance(node, Array):
            raise Failure(
                f"{self} is a group; this needs an array: name one of its members, "
                f"as in {self.url}#{'/'.join(part for part in (self.path, 'name') if part)}"
            )
        return node

    def locate(self, *, read_only: bool = True) -> tuple[Store, str]:
        """The store, and the path in it, whether there is a node or not."""
        import zarr_core  # noqa: PLC0415 - as above

        return zarr_core.locate(
            self.url, self.path, read_only=read_only, storage_options=self.storage_options
        )


def parse_place(text: str) -> Place:
    """Split ``URL#path``; what exists under the whole name is a path without any."""
    url, hash_, path = text.partition("#")
    if not hash_ or os.path.exists(text):
        return Place(text)
    return Place(url or ".", path.strip("/"))


def parse_option(text: str) -> tuple[str, Any]:
    """Split ``KEY=VALUE``: the value is JSON if it can be read as that, otherwise text.

    Raises
    ------
    click.BadParameter
        If there is no key.
    """
    import json  # noqa: PLC0415 - lazy: rarely needed

    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def without_credentials(url: str) -> dict[str, Any]:
    """What tells the store of a URL to send no credentials, in the words of its library."""
    if "::" in url:  # of a chain the last is far away
        scheme = url.rpartition("::")[2].partition("://")[0]
        return {scheme: _FSSPEC_WORDS.get(scheme, {"anon": True})}
    scheme = url.partition("://")[0]
    if scheme.startswith("fsspec+"):
        return _FSSPEC_WORDS.get(scheme.removeprefix("fsspec+"), {"anon": True})
    return {} if scheme in _WITHOUT_CREDENTIALS else {"skip_signature": True}


# Places of these have none in any case.
_WITHOUT_CREDENTIALS = ("http", "https", "file", "memory")
_FSSPEC_WORDS: dict[str, dict[str, Any]] = {
    "gs": {"token": "anon"},
    "gcs": {"token": "anon"},
    "http": {},
    "https": {},
}


def takes_places(
    *names: str, optional: Sequence[str] = (), zarr_format: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command arguments that are places, with the options that go with them.

    Parameters
    ----------
    *names : str
        Names of the arguments; the function gets a :class:`Place` for each.
    optional : sequence of str
        Those that may be left out, which come last; then the function gets None.
    zarr_format : bool
        Whether ``--zarr-format`` limits what is accepted; a command that writes has
        an option of that name with another meaning.

    Notes
    -----
    ``-o`` goes to every place that is a URL.  Where there are several,
    ``--<name>-option`` goes to one of them.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_places(**given: Any) -> Any:
            common = given.pop("storage_option")
            anonymous = given.pop("anonymous")
            wanted = _format(given.pop("zarr_format")) if zarr_format else None
            for name in names:
                own = given.pop(f"{name}_option") if len(names) > 1 else {}
                if given[name] is None:
                    continue
                url = given[name].url
                public = without_credentials(url) if anonymous else {}
                options = {**public, **common, **own} if "://" in url else own
                given[name] = replace(given[name], storage_options=options, zarr_format=wanted)
            return function(**given)

        for add in reversed([*_arguments(names, optional), *_options(names, zarr_format)]):
            with_places = add(with_places)
        return with_places

    return decorate


def stored_only_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option ``--no-consolidated``, as the argument ``stored_only``."""
    return click.option(
        "--no-consolidated",
        "stored_only",
        is_flag=True,
        help="Look at what is stored, not at the copies in consolidated metadata.",
    )(function)


def _arguments(names: tuple[str, ...], optional: Sequence[str]) -> list[Any]:
    return [
        click.argument(
            name,
            metavar=f"[{name.upper()}]" if name in optional else name.upper(),
            required=name not in optional,
            callback=_as_place,
            shell_complete=complete,
        )
        for name in names
    ]


def _as_place(_ctx: click.Context, _param: click.Parameter, text: str | None) -> Place | None:
    return None if text is None else parse_place(text)  # None: while the shell completes


def _as_options(
    _ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    return dict(map(parse_option, texts))


def _key_value(*flags: str, about: str) -> Any:
    return click.option(
        *flags, multiple=True, metavar="KEY=VALUE", callback=_as_options, help=about
    )


def _options(names: tuple[str, ...], zarr_format: bool) -> list[Any]:
    options = [
        _key_value(
            "-o",
            "--storage-option",
            about="An argument for the store that a URL names; again for more. "
            "The value is JSON, or else text.",
        )
    ]
    if len(names) > 1:
        options += [
            _key_value(f"--{name}-option", about=f"The same, for {name.upper()} alone.")
            for name in names
        ]
    options.append(
        click.option(
            "--anonymous", is_flag=True, help="Send no credentials: for buckets open to all."
        )
    )
    if zarr_format:
        options.append(
            click.option("--zarr-format", metavar="FORMAT", help="Accept this format only: 3, 2.")
        )
    return options


def _format(text: str | None) -> int | str | None:
    return int(text) if text and text.isdigit() else text
