"""The data types of the core specification."""
