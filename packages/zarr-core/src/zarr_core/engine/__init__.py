"""Moving elements between arrays in memory and chunks in a store."""
