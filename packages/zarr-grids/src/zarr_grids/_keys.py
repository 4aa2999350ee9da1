"""What any text in the key of a chunk must not be."""

from __future__ import annotations

from zarr_core.extension import StoreKeyError, check_key

# Nowhere in a key: it could lead out of the array, or to a document.
_FORBIDDEN = ("zarr.json", "\\", "\0", "//")


def check_text(text: str, what: str) -> None:
    """Refuse text that may not be part of a key.

    Raises
    ------
    ValueError
        If it holds something that could lead to anything but a chunk.
    """
    for part in _FORBIDDEN:
        if part in text:
            raise ValueError(f"{what} must not contain {part!r}")


def check_example(key: str) -> None:
    """Refuse keys that no store takes.

    Parameters
    ----------
    key : str
        That of the first chunk; the others differ in digits.

    Raises
    ------
    ValueError
        If it is no key.
    """
    try:
        check_text(key, f"keys such as {key!r}")
        check_key(key)
    except StoreKeyError as error:
        raise ValueError(str(error)) from error
