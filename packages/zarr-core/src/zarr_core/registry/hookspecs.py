"""The hooks: what a plugin may decide, or be told of, beside offering extensions.

This module is the only door to pluggy.  It is imported when there is a hook to
call, which for most programs is never.

Hooks carry policy: they may supply code, choose among what there is, object to a
document.  They cannot declare an extension ignorable: that is for the document's
``must_understand`` and the extension's kind to say.  They are called while a node is
opened or made, never for a chunk; to watch chunks, wrap the store.

An implementation is a function of the same name marked with ``hookimpl``; it may
leave out arguments that it does not need.  Of several, the one whose distribution
comes last in the alphabet is asked first, after those registered in the process.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.metadata.problem import Problem
    from zarr_core.registry.provider import Provider

PROJECT = "zarr_core"

PluginValidationError = pluggy.PluginValidationError

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function as the implementation of the hook of its name."""


def new_manager() -> pluggy.PluginManager:
    """A plugin manager that knows the hooks below, with no plugin yet."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(sys.modules[__name__])
    return manager


@hookspec(firstresult=True)
def zarr_supply_extension(kind: str, definition: ExtensionDefinition) -> type[Any] | None:
    """Supply the code for a name that nobody provides.

    For families of names that cannot be listed as entry points.  Asked only
    after everything that is installed, so a hook cannot replace an extension.

    Parameters
    ----------
    kind : str
        Kind of extension, such as ``"codec"``.
    definition : ExtensionDefinition
        What the document says.

    Returns
    -------
    type or None
        A class derived from the interface of that kind; None to leave it to others.
        It is made and checked like any other extension.
    """


@hookspec(firstresult=True)
def zarr_select_provider(kind: str, name: str, providers: Sequence[Provider]) -> Provider | None:
    """Choose among several distributions that provide the same extension.

    Asked only where they are in conflict: neither if the user's settings choose,
    nor if core has the extension itself.

    Parameters
    ----------
    kind, name : str
        The extension.
    providers : sequence of Provider
        Who provides it, at least two.

    Returns
    -------
    Provider or None
        One of ``providers``; None to leave it to others.
    """


@hookspec(firstresult=True)
def zarr_choose_fallback(
    definition: ExtensionDefinition, fallbacks: Sequence[ExtensionDefinition], where: str
) -> ExtensionDefinition | None:
    """Choose the data type in whose place an unknown one is read.

    Not asked if the settings forbid fallbacks.

    Parameters
    ----------
    definition : ExtensionDefinition
        The data type that nobody provides.
    fallbacks : sequence of ExtensionDefinition
        Those of the document's fallbacks that are provided, in its order; at least one.
    where : str
        The node.

    Returns
    -------
    ExtensionDefinition or None
        One of ``fallbacks``; None to leave it to others, and in the end to the order.
    """


@hookspec
def zarr_check_metadata(where: str, document: Mapping[str, JSON]) -> Iterable[Problem] | None:
    """Object to a metadata document, one that was read or one about to be written.

    Called after the document was found valid.

    Parameters
    ----------
    where : str
        The node.
    document : mapping
        The document; must not be changed.

    Returns
    -------
    iterable of Problem, or None
        What is wrong with it; any problem makes opening or writing fail.
    """


@hookspec
def zarr_extension_used(where: str, kind: str, name: str, provider: Provider) -> None:
    """Take note that a node uses an extension.

    Called for each definition of a document when its extension has been made.  What
    this hook raises becomes a warning.

    Parameters
    ----------
    where : str
        The node; empty if the extension was made for none.
    kind, name : str
        The extension.
    provider : Provider
        Who provides it.
    """
