"""In which boxes the elements of one array become those of another: arithmetic, nothing is read."""
