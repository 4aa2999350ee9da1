"""Migration of older versions, in the words of the command that zarr-python has."""

from __future__ import annotations

from typing import Any

import click

from zarr_cli.failing import Failure
from zarr_cli.output import json_option, print_json
from zarr_cli.place import Place, takes_places
from zarr_cli.progress import Progressing, progress_options


@click.group
def migrate() -> None:
    """Bring hierarchies of older versions to a newer one, with the words of zarr-python."""


@migrate.command
@takes_places("source", "dest", optional=("dest",), zarr_format=False)
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be written, write nothing.")
@click.option("--overwrite", is_flag=True, help="Replace documents of version 3 that are there.")
@click.option(
    "--force", is_flag=True, help="With --overwrite, also where the source is not version 2."
)
@click.option(
    "--remove-v2-metadata", is_flag=True, help="Remove the old documents when all is done."
)
@progress_options
@json_option
def v3(
    source: Place,
    dest: Place | None,
    dry_run: bool,
    overwrite: bool,
    force: bool,
    remove_v2_metadata: bool,
    progress: Progressing,
    as_json: bool,
) -> None:
    """Bring an array or a hierarchy of version 2 (or 1) to version 3.

    In place, documents are written beside the old ones, and no chunk is touched. To a
    DEST, chunks are copied as well; zarr-python's command writes documents alone there.
    The same with more choice: zarr-core convert.
    """
    from zarr_core.extension import read_node  # noqa: PLC0415 - lazy: not for help

    from zarr_cli.changing.converting import run  # noqa: PLC0415 - as above

    options: dict[str, Any] = {}
    if not force:
        store, path = source.locate()
        for zarr_format in (2, 1):
            try:
                options["source_format"] = read_node(store, path, zarr_format)[0].name
                break
            except LookupError:
                continue
        else:
            raise Failure(f"{source} has no node of version 2 or 1; see: zarr-core info {source}")
    run(
        source, dest, "converting", progress=progress, consolidate=False, dry_run=dry_run,
        as_json=as_json, zarr_format=3,
        overwrite=overwrite, remove_source=remove_v2_metadata and dest is None, **options,
    )  # fmt: skip
    if remove_v2_metadata and dest is not None and not as_json:
        click.echo(f"{source} stays as it is: only what is migrated in place loses its documents")


@click.command
@click.argument("version", type=click.Choice(["v2", "v3"]))
@takes_places("place", zarr_format=False)
@click.option("--force", is_flag=True, help="Also of nodes that have no other documents.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be removed, remove nothing.")
@json_option
def remove_metadata(version: str, place: Place, force: bool, dry_run: bool, as_json: bool) -> None:
    """Remove the documents of one version from a hierarchy, and leave all chunks.

    After a migration in place, say, when nobody reads version 2 any more. Refused where a
    node has documents of that version alone, unless it is forced.
    """
    try:
        from zarr_formats.conversion import remove_documents  # noqa: PLC0415 - lazy: not for help
    except ImportError:
        raise Failure("this takes zarr-formats: pip install zarr-formats") from None
    store, path = place.locate(read_only=dry_run)
    try:
        gone = remove_documents(store, int(version[1:]), path=path, force=force, dry_run=dry_run)
    finally:
        store.close()
    if as_json:
        print_json({"place": str(place), "dry_run": dry_run, "documents": gone})
        return
    for key in gone if dry_run else ():
        click.echo(key)
    verb = "would be removed" if dry_run else "removed"
    click.echo(f"{place}: {len(gone)} documents of version {version[1:]} {verb}")
