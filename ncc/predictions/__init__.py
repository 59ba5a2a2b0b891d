"""Predictions about kernels by the heads that ship with ncc. Nothing here imports torch or scikit-learn."""

from ncc.predictions.coarsening import CoarseningAdvice, load_shipped_coarsening_head, predict_coarsening
from ncc.predictions.device import PLATFORMS, DevicePrediction, load_device_head, predict_device
from ncc.predictions.device_curve import PLOT_FORMATS, DeviceCurve, plot_curves, predict_device_curve
from ncc.predictions.explanation import Explanation, LineShare, explain_device

__all__ = [
    "PLATFORMS",
    "PLOT_FORMATS",
    "CoarseningAdvice",
    "DeviceCurve",
    "DevicePrediction",
    "Explanation",
    "LineShare",
    "explain_device",
    "load_device_head",
    "load_shipped_coarsening_head",
    "plot_curves",
    "predict_coarsening",
    "predict_device",
    "predict_device_curve",
]
