"""Storage, streams, processes and their limits, ranks: what every room stands on, and no task is known to."""
