"""Text representations of nodes: lines, tables and trees; others are from an extension."""
