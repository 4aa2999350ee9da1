"""What a user may give for the parts of an array, as definitions."""
