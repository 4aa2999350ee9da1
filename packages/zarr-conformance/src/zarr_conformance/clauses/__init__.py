"""The clauses of the specifications, as TOML files."""
