"""Conversion of arrays and hierarchies between formats, layouts and stores."""
