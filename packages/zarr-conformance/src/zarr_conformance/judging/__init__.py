"""Whether an answer is what a case expects."""
