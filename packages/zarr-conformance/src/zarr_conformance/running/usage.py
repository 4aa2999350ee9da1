"""What is told to people without a traceback."""


class UsageError(Exception):
    """What was asked for cannot be done."""
