"""Implementations that take part, each a program with an input, an output."""
