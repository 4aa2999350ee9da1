"""The nodes of a hierarchy as a user sees them."""
