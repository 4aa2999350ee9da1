"""The chunk key encodings of the core specification."""
