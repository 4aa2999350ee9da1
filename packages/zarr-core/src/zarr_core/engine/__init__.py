"""Reading and writing of stored arrays: codec chains and chunks."""
