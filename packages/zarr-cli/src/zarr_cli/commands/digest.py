"""The command ``zarr-core digest``."""

from __future__ import annotations

from typing import Any

import click
from zarr_core.messages import format_bytes, pluralize

from zarr_cli.errors import Failure
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json
from zarr_cli.progress import ProgressOutput, progress_options


@click.command
@location_arguments("location", zarr_format=False)
@click.option(
    "--manifest", "file", metavar="FILE", type=click.Path(dir_okay=False),
    help="Also write the manifest to FILE.",
)  # fmt: skip
@click.option("--store", "in_store", is_flag=True, help="Also store the manifest at LOCATION.")
@click.option("--dandi", is_flag=True, help="Print the checksum of the DANDI archive instead.")
@progress_options
@json_option
def command(
    location: Location,
    file: str | None,
    in_store: bool,
    dandi: bool,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    r"""Compute one digest of a hierarchy, and its manifest.

    \b
    zarr-core digest survey.zarr
    zarr-core digest survey.zarr --manifest survey.manifest.jsonl
    zarr-core digest s3://bucket/survey.zarr --store
    zarr-core digest survey.zarr --dandi

    The digest is the same in every store: in a directory, a zip file, a database or a bucket. It
    changes if any chunk or metadata document is changed, swapped, lost or added.

    The manifest has the size and SHA-256 of each key, as JSON lines. verify compares a hierarchy
    with it and names each key that differs. With --store, it becomes a key of the hierarchy,
    .manifest.jsonl, which verify finds; values must not be changed meanwhile, and after a change
    the manifest must be stored again.

    --dandi prints the checksum that the DANDI archive calls zarr checksum.

    Exit status: 0, or 1 after an error, 2 for a usage error.

    The JSON document of --json has store, path, digest, keys, nbytes; with --dandi store, path,
    dandi.
    """
    if dandi and (file or in_store):
        raise click.UsageError("--dandi has no manifest; omit --manifest and --store")
    require_stores()
    store, path = location.locate(read_only=not in_store)
    document: dict[str, Any] = {"store": str(store), "path": f"/{path}"}
    with store, progress.bar("digest") as report:
        if dandi:
            from zarr_stores.integrity.dandi_checksum import dandi_checksum

            document["dandi"] = dandi_checksum(store, path, progress=report)
        else:
            from zarr_stores.integrity.manifest import create_manifest, write_manifest

            if in_store:
                manifest = write_manifest(store, path, report)
            else:
                manifest = create_manifest(store, path, progress=report)
            if file:
                manifest.write(file)
            document |= {
                "digest": manifest.digest, "keys": len(manifest), "nbytes": manifest.nbytes,
            }  # fmt: skip
    if as_json:
        print_json(document)
        return
    echo(document["dandi"] if dandi else document["digest"])
    if not dandi:
        progress.note(f"{pluralize(document['keys'], 'key')}, {format_bytes(document['nbytes'])}")


def require_stores() -> None:
    """Raise an error if zarr-stores is not installed."""
    try:
        import zarr_stores  # noqa: F401 - only whether it exists
    except ImportError:
        raise Failure("zarr-stores is not installed; run: pip install zarr-stores") from None
