"""Heads: what turns a description of code into an answer. Importing this room does not import torch."""

from ncc.heads.classifier import ClassifierHead, ClassPrediction
from ncc.heads.classifier_files import load_classifier_head, save_classifier_head
from ncc.heads.coarsening import CoarseningHead, CoarseningPrediction, load_coarsening_head, save_coarsening_head
from ncc.heads.encoded_program import EncodedProgram
from ncc.heads.inference import NumpyLSTMHead
from ncc.heads.mapper import KernelInputs, MapperHead, RatioPrediction, describe_kernel
from ncc.heads.mapper_files import load_mapper_head, save_mapper_head
from ncc.heads.ngram_model import NgramModel
from ncc.heads.program_network import ProgramNetwork

__all__ = [
    "ClassPrediction",
    "ClassifierHead",
    "CoarseningHead",
    "CoarseningPrediction",
    "EncodedProgram",
    "KernelInputs",
    "MapperHead",
    "NgramModel",
    "NumpyLSTMHead",
    "ProgramNetwork",
    "RatioPrediction",
    "describe_kernel",
    "load_classifier_head",
    "load_coarsening_head",
    "load_mapper_head",
    "save_classifier_head",
    "save_coarsening_head",
    "save_mapper_head",
]
