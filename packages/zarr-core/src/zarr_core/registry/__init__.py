"""Finding the code that implements an extension."""
