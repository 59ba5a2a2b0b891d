"""Times of kernels on the devices at hand: arguments made, kernels checked and timed, a table of what was found."""

from ncc.measure.opencl import Device, list_devices
from ncc.measure.sweep import Measurements, measure_kernels

__all__ = ["Device", "Measurements", "list_devices", "measure_kernels"]
