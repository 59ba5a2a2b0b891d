"""Thread coarsening: how many work-items of an OpenCL kernel to merge into one, and the speedup.

What answers is imported here, without torch or scikit-learn; what fits is imported from its modules.
"""
