"""Neural heads on statement embeddings. Importing this room does not import torch; `ncc.heads.lstm` does."""

from ncc.heads.inference import NumpyLSTMHead
from ncc.heads.ratio import RatioHead, RatioPrediction, load_ratio_head, save_ratio_head

__all__ = ["NumpyLSTMHead", "RatioHead", "RatioPrediction", "load_ratio_head", "save_ratio_head"]
