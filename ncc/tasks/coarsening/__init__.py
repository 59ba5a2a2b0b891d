"""Thread coarsening: how many work-items of an OpenCL kernel to merge into one, and the speedup."""
