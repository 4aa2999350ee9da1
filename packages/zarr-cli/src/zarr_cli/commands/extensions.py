"""The command ``zarr-core extensions``."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.errors import ProblemsFound
from zarr_cli.output import json_option, print_json, print_styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    # The items of zarr_core.installed_extensions() have no public type.
    Line = Any
    Lines = Sequence[Line]


@click.command
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--kind", help="List only one extension point: codec, data_type, store, format ...")
@click.option("--no-load", is_flag=True, help="Do not import the extensions.")
@json_option
def command(names: tuple[str, ...], kind: str | None, no_load: bool, as_json: bool) -> None:
    r"""List the installed extensions and whether they can be imported.

    \b
    zarr-core extensions --kind store
    zarr-core extensions gzip zstd

    The list shows the distribution that provides each extension. Each one is imported to
    check that it works. If several have the same name, those that are not used are marked.

    Exit status: 0, or 1 if an extension is broken or in conflict. Alternatives are used only
    if the settings name them; a missing library of an alternative is not an error.

    The JSON document of --json is a list of {kind, name, distribution, version, target, choice,
    used, loads, error}; loads is null with --no-load.
    """
    from zarr_core import installed_extensions

    lines = installed_extensions(load=not no_load, kind=kind, names=names)
    if kind is not None and not lines:
        kinds = sorted({line.kind for line in installed_extensions(load=False)})
        if kind not in kinds:
            raise click.BadParameter(
                f"unknown extension point {kind!r}; choose from {', '.join(kinds)}",
                param_hint="--kind",
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
    used = {(line.kind, line.name) for line in lines if line.wins}
    offered = Counter(
        (line.kind, line.name)
        for line in lines
        if not line.alternative and line.error is None and not _is_disabled(line)
    )
    return {name for name, count in offered.items() if count > 1 and name not in used}


def _is_broken(line: Line) -> bool:
    return line.error is not None and not line.alternative


def _is_disabled(line: Line) -> bool:
    """Whether the setting ``disabled_plugins`` disables the distribution."""
    import zarr_core

    disabled = zarr_core.config.settings.disabled_plugins
    return line.distribution != "zarr-core" and bool({"*", line.distribution} & {*disabled})


def _document(line: Line) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "name": line.name,
        "distribution": line.distribution,
        "version": line.version,
        "target": line.target,
        "choice": line.choice,
        "used": line.wins,
        "loads": line.loads,
        "error": line.error,
    }


def _print(lines: Lines, conflicts: set[tuple[str, str]]) -> None:
    width = max((len(line.name) for line in lines), default=0)
    for kind, group in groupby(lines, lambda line: line.kind):
        print_styled([(kind, "bold blue")])
        for line in group:
            conflict = (line.kind, line.name) in conflicts
            note = "in conflict" if conflict else "disabled" if _is_disabled(line) else line.note
            style = "red" if conflict or _is_broken(line) else "dim"
            print_styled(
                [
                    (f"  {line.name:<{width}}", "bold"),
                    (f"  {line.choice} {line.version}", ""),
                    (f"  {note}" if note else "", style),
                ]
            )
    for kind, name in sorted(conflicts):
        choices = [line.choice for line in lines if (line.kind, line.name) == (kind, name)]
        print_styled([(_advice(kind, name, choices), "red")])


def _advice(kind: str, name: str, choices: Iterable[str]) -> str:
    providers = [*choices]
    return (
        f"{' and '.join(providers)} all provide the {kind} {name!r}, so it cannot be used. Choose "
        f"one: zarr_core.config.set(providers={{'{kind}.{name}': '{providers[0]}'}})"
    )
