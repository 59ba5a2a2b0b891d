"""Thread coarsening: how many work-items of an OpenCL kernel to merge into one, and what is gained by it.

What answers is imported here, without torch or scikit-learn; what fits is imported from its modules.
"""

from ncc.coarsening.predict import CoarseningAdvice, load_shipped_coarsening_head, predict_coarsening

__all__ = ["CoarseningAdvice", "load_shipped_coarsening_head", "predict_coarsening"]
