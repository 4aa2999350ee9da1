"""Arrays and groups as a user sees them."""
