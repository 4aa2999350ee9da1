"""The stores that need nothing but the standard library."""
