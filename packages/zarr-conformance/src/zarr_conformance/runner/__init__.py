"""Running cases with implementations."""
