"""Metadata documents as data, which never look up an extension."""
