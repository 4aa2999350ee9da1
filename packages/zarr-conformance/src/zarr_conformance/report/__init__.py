"""Reports of the results."""
