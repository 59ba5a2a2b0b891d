"""Times and bottlenecks of GPU kernels before their first run."""
