"""What is installed."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.failing import Findings
from zarr_cli.output import json_option, print_json, print_styled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    # What zarr_core.installed_extensions() lists has no public name.
    Line = Any
    Lines = Sequence[Line]


@click.command
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--kind", help="Of this kind only: codec, data_type, store, format ...")
@click.option("--no-load", is_flag=True, help="Import none of them, so that none can fail.")
@json_option
def command(names: tuple[str, ...], kind: str | None, no_load: bool, as_json: bool) -> None:
    r"""Which extensions are installed, which of them work.

    \b
    zarr-core extensions --kind store
    zarr-core extensions gzip zstd

    With who provides them. Each is imported to see whether that works. Of several that have one name, those that
    are not used are marked.

    Exit status: 0, or 1 if one is broken or in conflict. Alternatives, which are used only where the settings name
    them, may lack the library they are made of.

    The document of --json is a list of {kind, name, distribution, version, target, choice,
    used, loads, error}; loads is null with --no-load.
    """
    from zarr_core import installed_extensions  # noqa: PLC0415 - lazy: not for help

    lines = installed_extensions(load=not no_load, kind=kind, names=names)
    if kind is not None and not lines:
        kinds = sorted({line.kind for line in installed_extensions(load=False)})
        if kind not in kinds:
            raise click.BadParameter(
                f"there is no kind {kind!r}; there are {', '.join(kinds)}", param_hint="--kind"
            )
    conflicts = _conflicts(lines)
    if as_json:
        print_json([_document(line) for line in lines])
    else:
        _print(lines, conflicts)
    if conflicts or any(map(_is_broken, lines)):
        raise Findings


def _conflicts(lines: Lines) -> set[tuple[str, str]]:
    """Kinds with names for which there are several providers, none of which is used."""
    used = {(line.kind, line.name) for line in lines if line.wins}
    offered = Counter(
        (line.kind, line.name)
        for line in lines
        if not line.alternative and line.error is None and not _is_off(line)
    )
    return {name for name, count in offered.items() if count > 1 and name not in used}


def _is_broken(line: Line) -> bool:
    return line.error is not None and not line.alternative


def _is_off(line: Line) -> bool:
    """Whether the setting ``disabled_plugins`` switches it off."""
    import zarr_core  # noqa: PLC0415 - lazy: not for help

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
            note = "in conflict" if conflict else "switched off" if _is_off(line) else line.note
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
    words = [*choices]
    return (
        f"{' and '.join(words)} all provide the {kind} {name!r}, so that it cannot be used. Choose "
        f"one: zarr_core.config.set(providers={{'{kind}.{name}': '{words[0]}'}})"
    )
