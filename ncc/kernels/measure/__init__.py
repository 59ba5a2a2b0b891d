"""Times kernels on the machine's devices: makes arguments, checks and times kernels, writes a table."""

from ncc.kernels.measure.opencl import Device, list_devices
from ncc.kernels.measure.sweep import Measurements, measure_kernels

__all__ = ["Device", "Measurements", "list_devices", "measure_kernels"]
