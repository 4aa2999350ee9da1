"""Errors of the judgement of written data."""


class StoredDataError(Exception):
    """Stored data violates its specification."""


class UnknownExtensionError(Exception):
    """The metadata names an extension that the readers of this package do not know."""
