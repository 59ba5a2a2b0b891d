"""Heads: what turns a description of code into an answer. Importing this room does not import torch."""

from ncc.heads.inference import NumpyLSTMHead
from ncc.heads.mapper import KernelInputs, MapperHead, RatioPrediction, describe_kernel
from ncc.heads.mapper_files import load_mapper_head, save_mapper_head

__all__ = [
    "KernelInputs",
    "MapperHead",
    "NumpyLSTMHead",
    "RatioPrediction",
    "describe_kernel",
    "load_mapper_head",
    "save_mapper_head",
]
