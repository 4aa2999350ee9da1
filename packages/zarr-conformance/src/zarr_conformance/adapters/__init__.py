"""Adapters for implementations; each is a program."""
