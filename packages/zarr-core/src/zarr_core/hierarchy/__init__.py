"""Arrays and groups, and the functions that open, create and delete them."""
