"""Output of arrays and selections as text, CSV, JSON or NPY."""
