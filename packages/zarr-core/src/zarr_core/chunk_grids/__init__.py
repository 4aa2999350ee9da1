"""The chunk grids of the core specification."""
