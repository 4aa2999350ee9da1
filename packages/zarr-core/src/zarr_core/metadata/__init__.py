"""Metadata documents: parsing, validation and serialization."""
