"""Conversions as they are asked for, told about, gone on with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from zarr_cli.changing.counted import counted
from zarr_cli.changing.places import keep_consolidated, stores
from zarr_cli.changing.stopping import going_on, stoppable
from zarr_cli.failing import Failure, Findings
from zarr_cli.output import print_json, print_table

if TYPE_CHECKING:
    from zarr_core import Store
    from zarr_formats.conversion import Plan

    from zarr_cli.place import Place
    from zarr_cli.progress import Progressing


def run(
    source: Place,
    dest: Place | None,
    doing: Literal["converting", "rechunking"],
    *,
    progress: Progressing,
    consolidate: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Carry out a conversion, or say what it would do.

    Parameters
    ----------
    source, dest : Place
        From where, where to; None for in place.
    doing : {"converting", "rechunking"}
        What is being done.
    progress : Progressing
        What is said meanwhile.
    consolidate : bool
        Whether the result gets consolidated metadata.
    dry_run, as_json : bool
        Whether nothing is written; whether the result is JSON.
    **options
        Arguments of :func:`zarr_formats.conversion.convert`; without ``zarr_format``, the
        format stays.

    Raises
    ------
    Failure
        If zarr-formats is not installed.
    Findings
        If a dry run finds that it cannot be done.
    """
    import zarr_core  # noqa: PLC0415 - lazy: not for help
    from zarr_core.extension import read_node  # noqa: PLC0415 - as above

    try:
        from zarr_formats.conversion import convert, plan  # noqa: PLC0415 - as above
    except ImportError:
        raise Failure("this takes zarr-formats: pip install zarr-formats") from None
    places: dict[str, Any] = {"path": source.path}
    changes_source = bool(options.get("remove_source"))
    with stores(source, dest, changes_source=changes_source) as (from_store, to_store):
        if "zarr_format" not in options:
            format_, _ = read_node(from_store, source.path)
            options |= {"zarr_format": format_.name, "source_format": format_.name}
        if dest is not None:
            places |= {"dest": to_store, "dest_path": dest.path}
        if dry_run:
            told = {name: value for name, value in options.items() if name != "on_error"}
            made = plan(from_store, **places, **told)
        else:
            left = _left(to_store, dest, overwrite=bool(options.get("overwrite")))
            with stoppable(left), progress.bar(doing) as reports:
                made = convert(from_store, **places, progress=reports, **options)
            if consolidate and made.steps[0].kind == "group":
                zarr_core.consolidate_metadata(
                    to_store, made.dest.path, zarr_format=made.dest.format_.name
                )
            if dest is not None:
                keep_consolidated(to_store, dest)
    if as_json:
        print_json(_document(made, source, dest, dry_run=dry_run))
    else:
        _print(made, source, dest, doing.removesuffix("ing") + "ed", dry_run=dry_run)
    if dry_run and made.problems:
        raise Findings


def _left(store: Store, dest: Place | None, *, overwrite: bool) -> str:
    """What an interrupt leaves, how to go on."""
    if dest is not None:
        return f"The source is as it was; {going_on(store, dest, overwrite=overwrite)}"
    return (
        "The source is as it was; new documents stay, and nothing is seen there that is not "
        "complete. The same command goes on from there."
    )


def _print(plan: Plan, source: Place, dest: Place | None, done: str, *, dry_run: bool) -> None:
    from zarr_cli.sizes import bytes_for_people  # noqa: PLC0415 - only here

    rows = []
    for step in plan.steps:
        touched = step.kind == "array" and step.cost in ("copy", "recode") and not step.problems
        rows.append(
            (
                f"/{step.path}",
                "impossible" if step.problems else _WORDS[step.cost],
                str(step.chunks) if touched and step.chunks is not None else "-",
                bytes_for_people(step.nbytes) if touched and step.nbytes is not None else "-",
            )
        )
    if dry_run or len(rows) <= _SHOWN:
        print_table(("node", "what is done", "chunks", "bytes"), rows, right=("chunks", "bytes"))
    for step in plan.steps:
        for note in step.notes:
            click.echo(f"note: /{step.path}: {note}")
    for problem in plan.problems:
        click.echo(f"problem: {problem}")
    place = "in place" if dest is None else f"to {dest}"
    verb = done
    if dry_run:
        verb = f"cannot be {done}" if plan.problems else f"would be {done}"
    nodes = counted(sum(not step.problems for step in plan.steps), "node")
    formats = dict.fromkeys((plan.source.format_.name, plan.dest.format_.name))
    click.echo(f"{source} {verb} {place}: {nodes}, {' to '.join(formats)}")


_SHOWN = 40  # nodes that are listed after the work
_WORDS = {
    "nothing": "nothing, it is there",
    "document": "document",
    "copy": "chunks copied",
    "recode": "decoded, encoded",
}


def _document(plan: Plan, source: Place, dest: Place | None, *, dry_run: bool) -> dict[str, Any]:
    return {
        "source": str(source),
        "dest": None if dest is None else str(dest),
        "source_format": plan.source.format_.name,
        "dest_format": plan.dest.format_.name,
        "dry_run": dry_run,
        "cost": plan.cost,
        "steps": [
            {
                "path": f"/{step.path}",
                "kind": step.kind,
                "cost": step.cost,
                "chunks": step.chunks,
                "nbytes": step.nbytes,
                "notes": list(step.notes),
                "problems": [
                    {"pointer": problem.pointer, "message": problem.message}
                    for problem in step.problems
                ],
            }
            for step in plan.steps
        ],
    }
