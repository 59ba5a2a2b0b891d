"""Storage, streams, processes and their limits, ranks: used by every other package, and independent of all tasks."""
