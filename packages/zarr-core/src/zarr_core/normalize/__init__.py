"""Normalization of the arguments that create arrays."""
