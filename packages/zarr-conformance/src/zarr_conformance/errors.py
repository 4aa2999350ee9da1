"""Errors that the command prints without a traceback."""


class UsageError(Exception):
    """Invalid arguments or files."""
