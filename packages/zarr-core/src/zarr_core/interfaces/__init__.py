"""What authors of extensions subclass: one file an extension point."""
