"""Finding the code that stands behind an extension's name."""
