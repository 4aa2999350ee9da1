"""The command ``zarr-core digest``."""

from __future__ import annotations

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
@progress_options
@json_option
def command(
    location: Location,
    file: str | None,
    in_store: bool,
    progress: ProgressOutput,
    as_json: bool,
) -> None:
    r"""Compute one digest of a hierarchy, and its manifest.

    \b
    zarr-core digest survey.zarr
    zarr-core digest survey.zarr --manifest survey.manifest.jsonl
    zarr-core digest s3://bucket/survey.zarr --store

    The digest is the same in every store: in a directory, a zip file, a database or a bucket. It
    changes if any chunk or metadata document is changed, swapped, lost or added.

    The manifest has the size and SHA-256 of each key, as JSON lines. verify compares a hierarchy
    with it and names each key that differs. With --store, it becomes a key of the hierarchy,
    .manifest.jsonl, which verify finds; values must not be changed meanwhile, and after a change
    the manifest must be stored again.

    Exit status: 0, or 1 after an error, 2 for a usage error.

    The JSON document of --json has store, path, digest, keys, nbytes.
    """
    require_stores()
    from zarr_stores.integrity.manifest import create_manifest, write_manifest

    store, path = location.locate(read_only=not in_store)
    with store, progress.bar("digest") as report:
        if in_store:
            manifest = write_manifest(store, path, report)
        else:
            manifest = create_manifest(store, path, progress=report)
        if file:
            manifest.write(file)
    if as_json:
        print_json({
            "store": str(store), "path": f"/{path}", "digest": manifest.digest,
            "keys": len(manifest), "nbytes": manifest.nbytes,
        })  # fmt: skip
        return
    echo(manifest.digest)
    progress.note(f"{pluralize(len(manifest), 'key')}, {format_bytes(manifest.nbytes)}")


def require_stores() -> None:
    """Raise an error if zarr-stores is not installed."""
    try:
        import zarr_stores  # noqa: F401 - only whether it exists
    except ImportError:
        raise Failure("zarr-stores is not installed; run: pip install zarr-stores") from None
