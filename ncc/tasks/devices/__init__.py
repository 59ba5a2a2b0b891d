"""Whether CPU or GPU runs a kernel faster, and by how much: samples, fit, head, prediction, curve, explanation.

What answers is imported here, without torch or scikit-learn; what fits is imported from its modules.
"""

from ncc.tasks.devices.curve import DeviceCurve, plot_curves, predict_device_curve
from ncc.tasks.devices.explain import Explanation, LineShare, explain_device
from ncc.tasks.devices.files import PLATFORMS
from ncc.tasks.devices.predict import DevicePrediction, predict_device

__all__ = [
    "PLATFORMS",
    "DeviceCurve",
    "DevicePrediction",
    "Explanation",
    "LineShare",
    "explain_device",
    "plot_curves",
    "predict_device",
    "predict_device_curve",
]
