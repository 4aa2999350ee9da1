"""From what a user writes between brackets to parts of chunks."""
