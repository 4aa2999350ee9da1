"""The implementation of ``convert`` and ``rechunk``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.messages import pluralize

from zarr_cli.errors import ProblemsFound, explain_interrupt
from zarr_cli.modify.open_stores import open_stores, resume_hint, update_consolidated
from zarr_cli.output import echo, print_json

if TYPE_CHECKING:
    from zarr_core import Store
    from zarr_transfer import CopyPlan

    from zarr_cli.location import Location
    from zarr_cli.progress import ProgressOutput


def run_conversion(
    source: Location,
    dest: Location | None,
    action: Literal["converting", "rechunking"],
    *,
    progress: ProgressOutput,
    consolidate: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Carry out a conversion, or print its plan; ``dest`` is None to convert in place.

    ``options`` are those of :func:`zarr_transfer.convert`; without ``zarr_format``, the format does not
    change.  ProblemsFound if a dry run finds that the conversion is not possible.
    """
    import zarr_core
    from zarr_core.formats.detect import read_node
    from zarr_transfer import convert, plan_conversion

    arguments: dict[str, Any] = {"source_path": source.path}
    changes_source = bool(options.get("remove_source"))
    with open_stores(source, dest, changes_source=changes_source) as (from_store, to_store):
        if "zarr_format" not in options:
            format_, _ = read_node(from_store, source.path)
            options |= {"zarr_format": format_.name, "source_format": format_.name}
        if dest is not None:
            arguments |= {"dest": to_store, "dest_path": dest.path}
        if dry_run:
            plan_options = {name: value for name, value in options.items() if name != "on_error"}
            conversion = plan_conversion(from_store, **arguments, **plan_options)
        else:
            message = _interrupt_message(to_store, dest, overwrite=bool(options.get("overwrite")))
            with explain_interrupt(message), progress.bar(action) as reports:
                conversion = convert(from_store, **arguments, progress=reports, **options)
            if consolidate and conversion.steps[0].kind == "group":
                zarr_core.consolidate_metadata(
                    to_store, conversion.dest.path, zarr_format=conversion.dest.format_.name
                )
            if dest is not None:
                update_consolidated(to_store, dest)
    if as_json:
        print_json(_document(conversion, source, dest, dry_run=dry_run))
    else:
        _print(conversion, source, dest, action.removesuffix("ing") + "ed", dry_run=dry_run)
    if dry_run and conversion.problems:
        raise ProblemsFound


def _interrupt_message(store: Store, dest: Location | None, *, overwrite: bool) -> str:
    """Return the message for an interrupt: what is kept and how to resume."""
    if dest is not None:
        return f"The source is unchanged. {resume_hint(store, dest, overwrite=overwrite)}"
    return (
        "The source is unchanged. New metadata is kept, and incomplete nodes are not visible. "
        "To resume, run the same command again."
    )


def _print(
    plan: CopyPlan, source: Location, dest: Location | None, done: str, *, dry_run: bool
) -> None:
    """Print the steps and a summary; if there are many, only steps with notes or problems."""
    shown = plan
    if not dry_run and len(plan.steps) > _SHOWN:
        shown = replace(plan, steps=tuple(s for s in plan.steps if s.notes or s.problems))
    if shown.steps:
        echo(str(shown).partition("\n")[2])
    where = "in place" if dest is None else f"to {dest}"
    verb = done
    if dry_run:
        verb = f"cannot be {done}" if plan.problems else f"would be {done}"
    nodes = pluralize(sum(not step.problems for step in plan.steps), "node")
    formats = dict.fromkeys((plan.source.format_.name, plan.dest.format_.name))
    echo(f"{source} {verb} {where}: {nodes}, {' to '.join(formats)}")


_SHOWN = 40  # nodes that are listed at the end


def _document(
    plan: CopyPlan, source: Location, dest: Location | None, *, dry_run: bool
) -> dict[str, Any]:
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
