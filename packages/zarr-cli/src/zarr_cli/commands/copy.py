"""The command ``zarr-core copy``."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import click
from zarr_core.messages import format_bytes, pluralize

from zarr_cli.errors import explain_interrupt
from zarr_cli.location import Location, location_arguments
from zarr_cli.modify.node_filter import NodeFilter, filter_options
from zarr_cli.output import echo, json_option, print_json
from zarr_cli.progress import ProgressOutput, progress_options

if TYPE_CHECKING:
    from zarr_transfer import Progress


@click.command
@location_arguments("source", "dest", zarr_format=False)
@click.option(
    "--overwrite",
    is_flag=True,
    help="First remove an existing node at DEST, with all nodes below it.",
)
@click.option("--skip-existing", is_flag=True, help="Do not copy arrays that exist at DEST.")
@filter_options
@click.option("-n", "--dry-run", is_flag=True, help="Print what would be copied; write nothing.")
@progress_options
@json_option
def command(
    source: Location,
    dest: Location,
    overwrite: bool,
    skip_existing: bool,
    only: NodeFilter | None,
    dry_run: bool,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    r"""Copy an array or a group, with all nodes below it, to another location or store.

    Chunks are copied as they are stored, without decoding. The copy is created at DEST
    itself, not as a member of DEST.

    \b
    zarr-core copy field.zarr s3://bucket/field.zarr
    zarr-core copy survey.zarr#north/elevation elevation.zip
    zarr-core copy old.zarr new.zarr --include 'ocean/*' --exclude ocean/raw

    To resume an interrupted copy, run the same command without --overwrite.
    For another format or other chunks, use zarr-core convert or zarr-core rechunk.

    The JSON document of --json has source, dest, dry_run, nodes: a list of {action, path},
    where action is copy or skip; keys, nbytes (numbers; null with --dry-run).
    """
    import zarr_core
    from zarr_core.errors import NodeNotFoundError

    from zarr_cli.modify.open_stores import open_node_in, open_stores, root_or_store

    lines: list[str] = []
    options: dict[str, Any] = {
        "overwrite": overwrite,
        "if_exists": "skip" if skip_existing else "raise",
        "only": only,
        "log": lines.append,
    }
    keys: int | None = None
    nbytes: int | None = None
    left = (
        f"Copied data is kept at {dest}; incomplete nodes are not visible there. To resume, run "
        "the same command" + (" without --overwrite." if overwrite else " again.")
    )
    with open_stores(source, dest) as (from_store, to_store):
        node = open_node_in(from_store, source)
        if only is not None:
            try:
                zarr_core.copy(node, {}, source.path, dry_run=True, only=only)
            except NodeNotFoundError:
                only.check_matched(source)  # its error has the patterns
                raise
        if dry_run:
            zarr_core.copy(node, root_or_store(to_store, dest), dest.path, dry_run=True, **options)
        else:
            last: deque[Progress] = deque(maxlen=1)
            with explain_interrupt(left), progress.bar("copying") as draw:

                def report(now: Progress) -> None:
                    last.append(now)
                    if draw is not None:
                        draw(now)

                root = root_or_store(to_store, dest)
                zarr_core.copy(node, root, dest.path, progress=report, **options)
            nbytes, keys = (last[0].nbytes, last[0].done) if last else (0, 0)
    nodes = [line for line in lines if line.startswith(("copy ", "skip "))]
    if as_json:
        print_json(
            {
                "source": str(source),
                "dest": str(dest),
                "dry_run": dry_run,
                "nodes": [_node(line) for line in nodes],
                "keys": keys,
                "nbytes": nbytes,
            }
        )
        return
    if dry_run:
        for line in nodes:
            echo(line)
    copied = sum(line.startswith("copy ") for line in nodes)
    skipped = f", {len(nodes) - copied} already there" * (copied < len(nodes))
    if dry_run:
        echo(f"would copy {pluralize(copied, 'node')}{skipped} to {dest}")
    else:
        echo(
            f"copied {pluralize(copied, 'node')}{skipped} to {dest}: "
            f"{pluralize(keys or 0, 'chunk')} or other keys, {format_bytes(nbytes or 0)} stored"
        )


def _node(line: str) -> dict[str, str]:
    action, _, rest = line.partition(" ")
    return {"action": action, "path": rest.partition(" (")[0]}
