"""Moving elements from chunks in a store to arrays in memory, or back."""
