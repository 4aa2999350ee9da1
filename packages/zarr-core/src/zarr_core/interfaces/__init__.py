"""Base classes of extensions."""
