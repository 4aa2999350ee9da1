"""Nodes where they are stored: found, checked, placed, removed."""
