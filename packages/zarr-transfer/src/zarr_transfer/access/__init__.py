"""Plans of reads and writes of arrays, and reads and writes within a memory limit."""
