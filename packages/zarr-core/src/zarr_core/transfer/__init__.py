"""How nodes get from one store to another, known by format or key alone."""
