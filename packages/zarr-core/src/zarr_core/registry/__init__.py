"""Lookup of the code for the name of an extension."""
