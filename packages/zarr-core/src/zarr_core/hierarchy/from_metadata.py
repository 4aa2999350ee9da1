"""Build stored arrays and groups from their metadata, and validate it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from zarr_core.cache import Cache
from zarr_core.config import config as settings
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.resolved_metadata import WriteEmptyChunks, resolve_cached
from zarr_core.engine.stored_array import StoredArray
from zarr_core.engine.stored_node import StoredGroup
from zarr_core.errors import (
    ExtensionConfigurationError,
    MetadataValidationError,
    ValidationProblem,
    ZarrError,
    is_ordinary_error,
    json_pointer,
    reason,
)
from zarr_core.location import Location
from zarr_core.messages import listed, warn, warn_once
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.optional import optional_function
from zarr_core.registry import hooks
from zarr_core.registry.overrides import override_extensions
from zarr_core.registry.resolve import create_extension, format_named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from zarr_core.definition import JSON
    from zarr_core.engine.resolved_metadata import ResolvedMetadata
    from zarr_core.engine.stored_node import StoredNode
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.metadata_extension import MetadataExtension
    from zarr_core.interfaces.store import Store
    from zarr_core.metadata.group import ConsolidatedMetadata

    N = TypeVar("N")


class ArraySettings(NamedTuple):
    """The settings of one array."""

    write_empty_chunks: WriteEmptyChunks
    missing_is_error: bool
    result_order: Literal["C", "F"] | None
    fixed: bool = False


def array_settings(config: Mapping[str, Any] | None) -> ArraySettings:
    """Parse the argument ``config``; other settings are those of ``zarr_core.config``."""
    known = settings.settings
    if not config:
        return ArraySettings(known.write_empty_chunks, known.missing_chunks == "error", None)
    if unknown := sorted(config.keys() - {"write_empty_chunks", "missing_chunks", "order"}):
        raise TypeError(
            f"unknown array setting: {', '.join(unknown)}; "
            "must be one of write_empty_chunks, missing_chunks, order"
        )
    order, missing = config.get("order"), config.get("missing_chunks", known.missing_chunks)
    if order not in ("C", "F", None):
        raise ValueError(f'the setting order must be "C" or "F", not {order!r}')
    if missing not in ("fill", "error"):
        raise ValueError(f'missing_chunks must be "fill" or "error", not {missing!r}')
    write_empty_chunks = config.get("write_empty_chunks", known.write_empty_chunks)
    if write_empty_chunks != "never":
        write_empty_chunks = bool(write_empty_chunks)
    return ArraySettings(write_empty_chunks, missing == "error", order)


def stored_array(
    store: Store,
    path: str,
    format_: Format,
    metadata: ArrayMetadata,
    settings: ArraySettings,
    *,
    read_only: bool = False,
    consolidated: Any = None,
) -> StoredArray:
    """Create a stored array from its metadata; warn if its values may be wrong."""
    write_empty_chunks, missing_is_error, result_order, fixed = settings
    resolved = resolve_cached(metadata, store, path, write_empty_chunks)
    if resolved.ignored or resolved.fill_value_assumed:
        _warn_of_wrong_values(metadata, resolved, store, path)
    return StoredArray(
        store, path, format_, metadata, resolved, read_only=read_only, missing_is_error=missing_is_error,
        result_order=result_order, consolidated=consolidated, fixed=fixed,
    )  # fmt: skip


def stored_node(
    store: Store,
    path: str,
    format_: Format,
    metadata: NodeMetadata,
    *,
    read_only: bool,
    use_consolidated: bool | None = None,
    settings: ArraySettings | None = None,
    consolidated: Any = None,
) -> StoredArray | StoredGroup:
    """Create a stored array or group from its metadata, and validate the metadata."""
    validate_node(store, path, metadata)
    if metadata.nonstandard:
        warn(
            f"{Location(store, path)}: nonstandard metadata: {'; '.join(metadata.nonstandard)}. Other "
            "readers may reject the node; changing its metadata stores the valid form"
        )
    if isinstance(metadata, ArrayMetadata):
        return stored_array(
            store, path, format_, metadata, settings or array_settings(None),
            read_only=read_only, consolidated=consolidated,
        )  # fmt: skip
    if consolidated is None and metadata.consolidated is not None:
        consolidated = consolidated_view(
            store, path, format_, metadata.consolidated, use_consolidated, read_only
        )
    elif consolidated is None and use_consolidated:
        raise ValueError(
            f"{Location(store, path)} has no consolidated metadata; create it with "
            "consolidate_metadata()"
        )
    return StoredGroup(
        store, path, format_, metadata, read_only=read_only, consolidated=consolidated
    )


def consolidated_view(
    store: Store,
    path: str,
    format_: Format,
    metadata: ConsolidatedMetadata,
    use_consolidated: bool | None,
    read_only: bool,
) -> Any:
    """The view of the consolidated metadata of a group; None, with a warning, without zarr-formats."""
    lookup = read_only or store.read_only if use_consolidated is None else use_consolidated
    try:
        return optional_function("use_consolidated=")(store, path, format_, metadata, lookup)
    except ModuleNotFoundError as error:
        if use_consolidated:
            raise
        # Two messages: a program that has read the group is also told when it may change it.
        use = "read" if read_only or store.read_only else "updated after changes"
        warn_once(f"{Location(store, path)}: consolidated metadata is not {use}, because {error}")
        return None


# Not warn_once: another array may be at the address of a store in memory.
_warned: Cache[tuple[str, str], ResolvedMetadata] = Cache(256)


def _warn_of_wrong_values(
    metadata: ArrayMetadata, resolved: ResolvedMetadata, store: Store, path: str
) -> None:
    """Warn, once for each location, that the values of an array may be wrong."""
    if _warned.get(key := (store.url, path)) is resolved:
        return
    _warned.put(key, resolved)
    location = Location(store, path)
    # A fallback of the data type has another warning.
    ignored = [definition for definition in resolved.ignored if definition != metadata.data_type]
    if ignored:
        names_ = listed([definition.name for definition in ignored])
        warn(
            f"{location}: unknown extensions {names_} are ignored (must_understand is "
            "false); the array is read-only and its values may be wrong"
        )
    if resolved.fill_value_assumed:
        warn(
            f"{location}: the fill value is null, which the data type "
            f"{metadata.data_type.name!r} does not permit; missing chunks are read as "
            f"{resolved.fill_value}, and other readers may reject the array"
        )


def pickled_state(stored: StoredNode[Any]) -> tuple[Any, ...]:
    """The arguments of :func:`reopen` after the first."""
    options: dict[str, Any] = {"read_only": stored.read_only}
    if isinstance(stored, StoredArray):
        options["settings"] = ArraySettings(
            stored.resolved.write_empty_chunks, stored.missing_is_error, stored.result_order,
            stored.fixed,
        )  # fmt: skip
    elif isinstance(stored, StoredGroup) and stored.metadata.consolidated is not None:
        options["use_consolidated"] = stored.uses_consolidated
    document = stored.format.to_json(stored.metadata)
    return stored.store, stored.path, stored.format.name, document, stored.extensions, options


def reopen(
    kind: Callable[[Any], N],
    store: Store,
    path: str,
    zarr_format: str,
    document: JSON,
    extensions: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
) -> N:
    """Create a node from its pickled state; does not access the store."""
    with override_extensions(extensions):
        format_ = format_named(zarr_format)
        metadata = format_.from_json(document, Location(store, path))
        return kind(stored_node(store, path, format_, metadata, **options))


def validate_node(store: Store, path: str, metadata: NodeMetadata) -> None:
    """Validate metadata with the extensions of its additional fields, and with hooks."""
    members = metadata.additional_fields
    if not members and not hooks.is_implemented("zarr_check_metadata"):
        return
    location = Location(store, path)
    document = metadata.to_json()
    problems = hooks.check_metadata(location, document)
    for name, value in members.items():
        pointer = json_pointer(name)
        try:
            extension = create_extension(
                "extension", _definition(name, value), location.at(pointer)
            )
        except ExtensionConfigurationError as error:
            # Additional fields are definitions without the member "configuration".
            raise ExtensionConfigurationError(
                error.extension_point, error.extension_name, error.location,
                [
                    ValidationProblem(pointer + _below(item.pointer, pointer, value), item.message)
                    for item in error.problems
                ],
            ) from error  # fmt: skip
        if extension is not None:
            problems += _problems(extension, document, location, pointer)
    if problems:
        raise MetadataValidationError(location, problems)


def _below(pointer: str, field: str, value: JSON) -> str:
    """Return a pointer in a definition as a pointer within the value of an additional field."""
    below = pointer.removeprefix(field).removeprefix("/configuration")
    return below if isinstance(value, dict) else below.removeprefix("/value")


def _definition(name: str, value: JSON) -> ExtensionDefinition:
    """Return an additional field as a definition; its other members are the configuration."""
    members = {**value} if isinstance(value, dict) else {"value": value}
    must_understand = members.pop("must_understand", True) is not False
    return ExtensionDefinition(name, members, must_understand)


def _problems(
    extension: MetadataExtension, document: dict[str, JSON], location: Location, pointer: str
) -> list[ValidationProblem]:
    """The problems that an extension reports; its exceptions become problems."""
    try:
        problems = list(extension.check(document))
        if others := [item for item in problems if not isinstance(item, ValidationProblem)]:
            raise TypeError(f"check returned {others[0]!r}, which is not a ValidationProblem")
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_ordinary_error(error):
            raise
        failure = ValidationProblem(
            pointer, f"the extension for this field failed: {reason(error)}"
        )
        raise MetadataValidationError(location, [failure]) from error
    return problems
