from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias

# Of the stored objects, or a function of their keys.
Values: TypeAlias = list[Any] | Callable[[str], Any]

LINKED: str
CODEC_ABI: int

def plan(
    shape: tuple[int, ...],
    outer: tuple[int, ...],
    chunk: tuple[int, ...],
    order: tuple[int, ...],
    item: int,
    swap: int,
    is_bool: bool,
    fill: bytes,
    missing_is_error: bool,
    write_empty: bool,
    codecs: tuple[Any, ...],
    sizes: tuple[int, ...],
    room: int,
    index: tuple[bool, bool] | None,
    root: str | None,
    follow_links: bool,
    writable: bool,
    prefix: str,
    separator: str,
    partial_limit: int,
    /,
) -> Any: ...
def read_box(
    plan: Any,
    index: tuple[Any, ...],
    out: Any,
    threads: int | Callable[[], int],
    values: Values | None = None,
    /,
) -> list[tuple[int, ...]] | None: ...
def read_index(
    plan: Any,
    index: Any,
    empty: Callable[[tuple[int, ...], Any], Any],
    dtype: Any,
    threads: int | Callable[[], int],
    values: Values | None = None,
    /,
) -> Any: ...
def write_box(
    plan: Any,
    index: tuple[slice, ...],
    values: Any,
    threads: int | Callable[[], int],
    store: Callable[[str, bytes | None], None] | None = None,
    /,
) -> list[tuple[int, ...]] | None: ...
def read_points(
    plan: Any,
    indices: Sequence[Any],
    out: Any,
    threads: int | Callable[[], int],
    values: Values | None = None,
    /,
) -> list[tuple[int, ...]] | None: ...
def codec(name: str, parameters: tuple[int, ...], /) -> Any | None: ...
def decode(codec: Any, data: bytes, capacity: int, /) -> bytes | None: ...
def encode(codec: Any, data: bytes, /) -> bytes | None: ...
def load_library(name: str, path: str | PathLike[str], /) -> str | None: ...
def counts() -> tuple[int, int]: ...
