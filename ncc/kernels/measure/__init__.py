"""Times kernels on the machine's devices: makes arguments, checks and times kernels, writes a table."""
