"""Locations on the command line: a store and the path of a node in it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import click

from zarr_cli.modify.arguments import parse_value
from zarr_cli.path_completion import complete

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zarr_core import Array, Group, Store


@dataclass(frozen=True, slots=True)
class Location:
    """A store and a path in it.

    ``url`` is a path or URL, as :func:`zarr_core.open` takes it; ``path`` the part after ``#``;
    ``zarr_format`` the only format that is accepted, if it is not None.
    """

    url: str
    path: str = ""
    storage_options: Mapping[str, Any] = field(default_factory=dict)
    zarr_format: int | str | None = None

    def __str__(self) -> str:
        return f"{self.url}#{self.path}" if self.path else self.url

    def open(self, mode: Literal["r", "r+"] = "r", **options: Any) -> Array | Group:
        """Open the node; ``options`` are passed to :func:`zarr_core.open`."""
        import zarr_core

        return zarr_core.open(
            self.url,
            mode,
            path=self.path,
            zarr_format=self.zarr_format,
            storage_options=self.storage_options,
            **options,
        )

    def open_array(self, mode: Literal["r", "r+"] = "r") -> Array:
        """Open the node, which must be an array."""
        from zarr_core import Array

        from zarr_cli.errors import Failure

        node = self.open(mode)
        if not isinstance(node, Array):
            raise Failure(
                f"{self} is a group, but this command needs an array: pass one of its members, "
                f"as in {self.url}#{'/'.join(part for part in (self.path, 'name') if part)}"
            )
        return node

    def locate(self, *, read_only: bool = True) -> tuple[Store, str]:
        """Return the store and the path in it; the node need not exist."""
        import zarr_core

        return zarr_core.resolve_store_path(
            self.url, self.path, read_only=read_only, storage_options=self.storage_options
        )


def parse_location(text: str) -> Location:
    """Split ``URL#path``; an existing file with the whole name takes precedence."""
    url, hash_, path = text.partition("#")
    if not hash_ or os.path.exists(text):
        return Location(text)
    return Location(url or ".", path.strip("/"))


def parse_option(text: str) -> tuple[str, Any]:
    """Split ``KEY=VALUE``; the value is JSON if it is valid JSON, otherwise text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE")
    return key, parse_value(value)


def without_credentials(url: str) -> dict[str, Any]:
    """Return the store options that disable credentials for a URL."""
    if "::" in url:  # the last URL of a chain is the remote one
        scheme = url.rpartition("::")[2].partition("://")[0].lower()
        return {scheme: _FSSPEC_OPTIONS.get(scheme, {"anon": True})}
    scheme = url.partition("://")[0].lower()
    if scheme.startswith("fsspec+"):
        return _FSSPEC_OPTIONS.get(scheme.removeprefix("fsspec+"), {"anon": True})
    return {} if scheme in _WITHOUT_CREDENTIALS else {"skip_signature": True}


_OF_DIRECTORIES = frozenset({"follow_links", "fsync"})
# These schemes never use credentials.
_WITHOUT_CREDENTIALS = ("http", "https", "file", "memory")
_FSSPEC_OPTIONS: dict[str, dict[str, Any]] = {
    "gs": {"token": "anon"},
    "gcs": {"token": "anon"},
    "http": {},
    "https": {},
}


def location_arguments(
    *names: str, optional: Sequence[str] = (), zarr_format: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add arguments that are locations to a command, with the options for their stores.

    ``-o`` applies to every location that is a URL, or to all if none is; the options of directories
    apply to all.  If there are several locations, ``--<name>-option`` applies to one of them.
    Commands that write define ``--zarr-format`` themselves, with another meaning.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_locations(**arguments: Any) -> Any:
            common = arguments.pop("storage_option")
            anonymous = arguments.pop("anonymous")
            wanted = arguments.pop("zarr_format") if zarr_format else None
            options = {name: arguments[name] for name in names if arguments[name] is not None}
            any_url = any("://" in location.url for location in options.values())
            for name in names:
                own = arguments.pop(f"{name}_option") if len(names) > 1 else {}
                if name not in options:
                    if own:
                        raise click.UsageError(f"--{name}-option requires {name.upper()}")
                    continue
                is_url = "://" in options[name].url
                public = without_credentials(options[name].url) if anonymous and is_url else {}
                shared = common
                if any_url and not is_url:
                    shared = {key: common[key] for key in _OF_DIRECTORIES & common.keys()}
                arguments[name] = replace(
                    options[name], storage_options={**public, **shared, **own}, zarr_format=wanted
                )
            return function(**arguments)

        for add in reversed([*_arguments(names, optional), *_options(names, zarr_format)]):
            with_locations = add(with_locations)
        return with_locations

    return decorate


def stored_only_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option ``--no-consolidated``, passed as the argument ``stored_only``."""
    return click.option(
        "--no-consolidated",
        "stored_only",
        is_flag=True,
        help="Read the stored metadata instead of consolidated metadata.",
    )(function)


def _arguments(names: tuple[str, ...], optional: Sequence[str]) -> list[Any]:
    return [
        click.argument(
            name,
            metavar=f"[{name.upper()}]" if name in optional else name.upper(),
            required=name not in optional,
            callback=_to_location,
            shell_complete=complete,
        )
        for name in names
    ]


def _to_location(_ctx: click.Context, _param: click.Parameter, text: str | None) -> Location | None:
    return None if text is None else parse_location(text)  # None during shell completion


def _to_options(
    _ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]
) -> dict[str, Any]:
    return dict(map(parse_option, texts))


def key_value_option(*flags: str, about: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return an option ``KEY=VALUE`` that can be repeated; the command receives a dictionary."""
    return click.option(
        *flags, multiple=True, metavar="KEY=VALUE", callback=_to_options, help=about
    )


def _options(names: tuple[str, ...], zarr_format: bool) -> list[Any]:
    options = [
        key_value_option(
            "-o",
            "--storage-option",
            about="An argument for the store of a URL. The value is JSON or text. Can be repeated.",
        )
    ]
    if len(names) > 1:
        options += [
            key_value_option(f"--{name}-option", about=f"The same, only for {name.upper()}.")
            for name in names
        ]
    options.append(
        click.option("--anonymous", is_flag=True, help="Send no credentials; for public buckets.")
    )
    if zarr_format:
        options.append(format_option(about="Open only this format: 3, 2."))
    return options


def parse_format(text: str | None) -> int | str | None:
    """Return the number or name of a format; None if there is none."""
    return int(text) if text and text.isdigit() else text


def format_option(
    flag: str = "--zarr-format", *, about: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return an option for a format; the command receives its number or name, or None."""
    return click.option(
        flag, metavar="FORMAT", callback=lambda _ctx, _param, text: parse_format(text), help=about
    )
