"""Parsing of selections, and their division into chunks."""
