"""Predictions about kernels and programs by the heads that ship with ncc; without importing torch or scikit-learn."""

from ncc.predictions.classification import ClassShare, ProgramClasses, classify, load_shipped_classifier
from ncc.predictions.coarsening import CoarseningAdvice, load_shipped_coarsening_head, predict_coarsening
from ncc.predictions.device import PLATFORMS, DevicePrediction, load_device_head, predict_device
from ncc.predictions.device_curve import PLOT_FORMATS, DeviceCurve, plot_curves, predict_device_curve
from ncc.predictions.explanation import Explanation, LineShare, explain_device

__all__ = [
    "PLATFORMS",
    "PLOT_FORMATS",
    "ClassShare",
    "CoarseningAdvice",
    "DeviceCurve",
    "DevicePrediction",
    "Explanation",
    "LineShare",
    "ProgramClasses",
    "classify",
    "explain_device",
    "load_device_head",
    "load_shipped_classifier",
    "load_shipped_coarsening_head",
    "plot_curves",
    "predict_coarsening",
    "predict_device",
    "predict_device_curve",
]
