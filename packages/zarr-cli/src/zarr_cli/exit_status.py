"""Exit statuses of the program, in addition to 0, 1 and 2."""

INTERRUPTED = 130
"""Interrupted by Ctrl+C, as in shells."""

PIPE_CLOSED = 141
"""The reader of standard output ended, as for a program killed by SIGPIPE."""
