"""Kernels that everybody knows, and what `ncc.predict_device` says of each: ``python -m datasets.kernels``."""
