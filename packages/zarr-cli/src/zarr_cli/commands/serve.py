"""The command ``zarr-core serve``."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_cli.serve.server import StoreServer

_PORT = 8000


@click.command
@location_arguments("location", zarr_format=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="The interface to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="The port to listen on; 0 for any free port.",
)
@click.option(
    "--cors",
    multiple=True,
    metavar="ORIGIN",
    help="Allow pages of this origin to read, such as https://viewer.example; '*' for all.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A host name that clients may use, in addition to localhost; for proxies.",
)
@click.option("--browser", is_flag=True, help="Open the page in a browser.")
@click.option("-v", "--verbose", is_flag=True, help="Print one line per request to standard error.")
@json_option
def command(
    location: Location,
    host: str,
    port: int,
    cors: tuple[str, ...],
    allow_host: tuple[str, ...],
    browser: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    r"""Serve a store read-only over HTTP, with a page to browse it.

    \b
    zarr-core serve survey.zarr --browser
    zarr-core serve s3://bucket/field.zarr --anonymous --port 0
    zarr-core serve field.zarr --cors https://viewer.example

    The location may also be a folder with several hierarchies. Damaged nodes are served too;
    the page lists their problems. Any library that opens http:// URLs can read the store.
    Press Ctrl+C to stop.

    The JSON document of --json has url, store, path; it is printed when the server is ready.
    """
    from zarr_cli.errors import Failure
    from zarr_cli.serve.folders import has_keys

    try:
        from zarr_cli.serve.server import StoreServer
    except ModuleNotFoundError as error:
        raise Failure(
            f"the server needs {error.name}, which is not installed; run: "
            'pip install "zarr-cli[serve]"'
        ) from None

    def started(url: str) -> None:
        what = f"{store}#{path}" if path else str(store)  # without credentials
        if as_json:
            print_json({"url": url, "store": str(store), "path": f"/{path}"})
            sys.stdout.flush()
        else:
            echo(f"Serving {what} at {url}  (press Ctrl+C to stop)")
        if server.is_reachable_from_elsewhere:
            echo("Anyone who can reach this machine can read it.", err=True)
        if browser:
            click.launch(url)

    store, path = location.locate()
    if not has_keys(store, path):
        location.open()  # raises with a suggestion
    log = (lambda line: click.echo(line, err=True)) if verbose else None
    try:
        server = StoreServer(
            store, path, host=host, port=port, cors=cors, hosts=allow_host, log=log
        )
    except OSError as error:
        raise Failure(
            f"cannot listen on {host} port {port}: {error.strerror or error}. Choose another "
            "--port (0 for any free port) or another --host."
        ) from error
    with store:
        _run_until_interrupted(server, started)


def _run_until_interrupted(server: StoreServer, started: Callable[[str], None]) -> None:
    """Serve until the program receives SIGINT or SIGTERM."""
    stopped = threading.Event()

    def stop(*_: Any) -> None:
        stopped.set()

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with server:
            started(server.url)
            stopped.wait()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
