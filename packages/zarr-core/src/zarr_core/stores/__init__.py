"""Stores that need only the standard library."""
