"""What specifications demand, kept as data."""
