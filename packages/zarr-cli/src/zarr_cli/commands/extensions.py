"""The command ``zarr-core extensions``."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.errors import ProblemsFound
from zarr_cli.output import json_option, print_json, print_styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zarr_cli.installed_extensions import InstalledExtension as Line

    Lines = Sequence[Line]


@click.command
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--extension-point", help="List only one extension point: codec, data_type, store, format ..."
)
@click.option("--no-load", is_flag=True, help="Do not import the extensions.")
@json_option
def command(
    names: tuple[str, ...], extension_point: str | None, no_load: bool, as_json: bool
) -> None:
    r"""List the installed extensions and whether they can be imported.

    \b
    zarr-core extensions --extension-point store
    zarr-core extensions gzip zstd

    The list shows the distribution that provides each extension. Each one is imported to
    check that it works. If several have the same name, those that are not used are marked.

    Exit status: 0, or 1 if an extension is broken or in conflict.

    The JSON document of --json is a list of {extension_point, name, distribution, version,
    target, used, loads, error}; loads is null with --no-load.
    """
    from zarr_cli.installed_extensions import installed_extensions

    lines = installed_extensions(load=not no_load, extension_point=extension_point, names=names)
    if extension_point is not None and not lines:
        kinds = sorted({line.extension_point for line in installed_extensions(load=False)})
        if extension_point not in kinds:
            raise click.BadParameter(
                f"unknown extension point {extension_point!r}; choose from {', '.join(kinds)}",
                param_hint="--extension-point",
            )
    conflicts = _conflicts(lines)
    if as_json:
        print_json([_document(line) for line in lines])
    else:
        _print(lines, conflicts)
    if conflicts or any(map(_is_broken, lines)):
        raise ProblemsFound


def _conflicts(lines: Lines) -> set[tuple[str, str]]:
    """Return extension points and names with several providers, none of which is used."""
    used = {(line.extension_point, line.name) for line in lines if line.wins}
    offered = Counter(
        (line.extension_point, line.name)
        for line in lines
        if line.error is None and not _is_disabled(line)
    )
    return {name for name, count in offered.items() if count > 1 and name not in used}


def _is_broken(line: Line) -> bool:
    return line.error is not None


def _is_disabled(line: Line) -> bool:
    """Whether the setting ``disabled_plugins`` disables the distribution."""
    import zarr_core

    disabled = zarr_core.config.settings.disabled_plugins
    return line.distribution != "zarr-core" and bool({"*", line.distribution} & {*disabled})


def _document(line: Line) -> dict[str, Any]:
    return {
        "extension_point": line.extension_point,
        "name": line.name,
        "distribution": line.distribution,
        "version": line.version,
        "target": line.target,
        "used": line.wins,
        "loads": line.loads,
        "error": line.error,
    }


def _print(lines: Lines, conflicts: set[tuple[str, str]]) -> None:
    width = max((len(line.name) for line in lines), default=0)
    for extension_point, group in groupby(lines, lambda line: line.extension_point):
        print_styled([(extension_point, "bold blue")])
        for line in group:
            conflict = (line.extension_point, line.name) in conflicts
            note = "in conflict" if conflict else "disabled" if _is_disabled(line) else line.note
            style = "red" if conflict or _is_broken(line) else "dim"
            print_styled(
                [
                    (f"  {line.name:<{width}}", "bold"),
                    (f"  {line.origin}", ""),
                    (f"  {note}" if note else "", style),
                ]
            )
            if extension_point == "native" and line.wins and line.loads:
                for name, state in _native_parts(line.name).items():
                    print_styled([(f"    {name}  ", ""), (state, "dim")])
    for extension_point, name in sorted(conflicts):
        choices = [
            line.distribution
            for line in lines
            if (line.extension_point, line.name) == (extension_point, name)
        ]
        print_styled([(_advice(extension_point, name, choices), "red")])


def _native_parts(name: str) -> Mapping[str, str]:
    """Return what the native executor uses, such as compression libraries."""
    from zarr_core.registry.resolve import find_class

    parts: Mapping[str, str] = find_class("native", name)().describe()
    return parts


def _advice(extension_point: str, name: str, choices: Iterable[str]) -> str:
    providers = [*choices]
    return (
        f"{' and '.join(providers)} all provide the {extension_point} {name!r}, so it cannot be used. Choose "
        f'one: export ZARR_CORE_PROVIDERS="{extension_point}.{name}={providers[0]}"'
    )
