"""Which device runs a kernel faster, CPU or GPU, and by how much: samples, fit, head, prediction, curve, explanation.

What answers is imported here, without torch or scikit-learn; what fits is imported from its modules.
"""

from ncc.devices.curve import DeviceCurve, plot_curves, predict_device_curve
from ncc.devices.explain import Explanation, LineShare, explain_device
from ncc.devices.predict import PLATFORMS, DevicePrediction, load_shipped_device_head, predict_device

__all__ = [
    "PLATFORMS",
    "DeviceCurve",
    "DevicePrediction",
    "Explanation",
    "LineShare",
    "explain_device",
    "load_shipped_device_head",
    "plot_curves",
    "predict_device",
    "predict_device_curve",
]
