"""Cases that show what the clauses demand, declared without the library that they judge."""
