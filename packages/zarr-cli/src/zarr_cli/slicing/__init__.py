"""Parts of arrays read in order, written as text, CSV, JSON or NPY."""
