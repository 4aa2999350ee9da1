"""Plans of reads and writes of arrays, and their execution within a memory limit."""
