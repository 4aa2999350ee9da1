"""Validation of text in chunk keys."""

from __future__ import annotations

from zarr_core.extension import StoreKeyError, check_key

# Such text could refer to a key outside of the array, or to a metadata document.
_FORBIDDEN = ("zarr.json", "\\", "\0", "//")


def check_text(text: str, what: str) -> None:
    """Raise an error for text that must not be part of a chunk key.

    Raises
    ------
    ValueError
        If the text contains a forbidden part.
    """
    for part in _FORBIDDEN:
        if part in text:
            raise ValueError(f"{what} must not contain {part!r}")


def check_example(key: str) -> None:
    """Raise an error for keys that are not valid in stores.

    Parameters
    ----------
    key : str
        Key of the first chunk; other keys differ only in digits.

    Raises
    ------
    ValueError
        If the key is invalid.
    """
    try:
        check_text(key, f"chunk keys such as {key!r}")
        check_key(key)
    except StoreKeyError as error:
        raise ValueError(str(error)) from error
