"""The command ``zarr-core completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    r"""Print a completion script for a shell.

    \b
    bash   eval "$(zarr-core completion bash)"      in ~/.bashrc
    zsh    eval "$(zarr-core completion zsh)"       in ~/.zshrc
    fish   zarr-core completion fish > ~/.config/fish/completions/zarr-core.fish

    Commands, options and files are completed. After the # of a local store, the members of
    the hierarchy are completed too.
    """
    root = ctx.find_root()
    completion = get_completion_class(shell)
    assert completion is not None
    program = "zarr-core"
    click.echo(completion(root.command, {}, program, "_ZARR_CORE_COMPLETE").source())
