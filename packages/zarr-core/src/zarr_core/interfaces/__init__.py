"""Base classes of extensions."""

INTERFACE_VERSION = 1
"""Version of these interfaces; incremented by changes that break extensions."""

OLDEST_INTERFACE_VERSION = 1
"""The oldest version whose extensions still work."""
