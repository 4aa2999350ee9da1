"""What users look at: info tables, trees, HTML."""
