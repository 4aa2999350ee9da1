"""Text representations of nodes: lines, tables and trees; an extension provides others."""
