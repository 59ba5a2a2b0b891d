"""Reads vocabularies published by other projects as embeddings of ours, so that they can be compared."""

from ncc.study.vectors.inst2vec import load_inst2vec
from ncc.study.vectors.ir2vec import load_ir2vec

__all__ = ["load_inst2vec", "load_ir2vec"]
