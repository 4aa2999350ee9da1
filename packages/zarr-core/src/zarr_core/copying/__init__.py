"""What copies or moves nodes, or keys, at the word of a user."""
