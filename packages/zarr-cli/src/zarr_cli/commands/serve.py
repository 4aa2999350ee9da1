"""Serving a store by HTTP, with a page to look at it."""

from __future__ import annotations

import click

from zarr_cli.place import Place, takes_places

_PORT = 8000


@click.command
@takes_places("place", zarr_format=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="The interface to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="The port to listen on; 0 for any free one.",
)
@click.option(
    "--cors",
    multiple=True,
    metavar="ORIGIN",
    help="Let pages of this origin read, such as https://viewer.example; '*' for all pages.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A name by which clients may call the server, besides localhost; for proxies.",
)
@click.option("--browser", is_flag=True, help="Open the page in a browser.")
@click.option("-v", "--verbose", is_flag=True, help="A line on standard error for each request.")
def command(
    place: Place,
    host: str,
    port: int,
    cors: tuple[str, ...],
    allow_host: tuple[str, ...],
    browser: bool,
    verbose: bool,
) -> None:
    r"""Serve a store by HTTP for reading, with a page to look at it in a browser.

    \b
    zarr-core serve survey.zarr --browser
    zarr-core serve s3://bucket/field.zarr --anonymous --port 0
    zarr-core serve field.zarr --cors https://viewer.example

    A folder of several hierarchies will do, too; and damaged ones, whose problems the page
    shows.  Whoever can open http:// places can read what is served: this library and others.
    It ends with Ctrl+C.
    """
    from zarr_cli.failing import Failure  # noqa: PLC0415 - lazy: not for help
    from zarr_cli.serve.folders import holds_anything  # noqa: PLC0415 - lazy: as below
    from zarr_cli.serve.running import run  # noqa: PLC0415 - lazy: as above
    from zarr_cli.serve.server import StoreServer  # noqa: PLC0415 - lazy: as above

    def started(url: str) -> None:
        what = f"{store}#{path}" if path else str(store)  # without the place's credentials
        click.echo(f"Serving {what} at {url}  (Ctrl+C ends it)")
        if server.is_reachable_from_elsewhere:
            click.echo("Everybody who can reach this machine can read it.", err=True)
        if browser:
            click.launch(url)

    store, path = place.locate()
    if not holds_anything(store, path):
        place.open()  # says what is missing, and what may have been meant
    log = (lambda line: click.echo(line, err=True)) if verbose else None
    try:
        server = StoreServer(
            store, path, host=host, port=port, cors=cors, hosts=allow_host, log=log
        )
    except OSError as error:
        raise Failure(
            f"cannot listen on {host} port {port}: {error.strerror or error}. Choose another "
            "--port, 0 for any that is free, or another --host."
        ) from error
    with store:
        run(server, started)
