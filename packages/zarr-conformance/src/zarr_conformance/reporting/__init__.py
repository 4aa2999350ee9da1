"""Telling people, or programs, what has come out."""
