"""The on-disk formats of this distribution, each a plugin."""
