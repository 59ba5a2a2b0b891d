"""Published methods of device mapping, run again in the same frame and on the same folds as everything else."""

from ncc.tasks.device_mapping.peers.deeptune import DeepTune
from ncc.tasks.device_mapping.peers.grewe import Grewe
from ncc.tasks.device_mapping.peers.inst2vec import Inst2vec, read_statements
from ncc.tasks.device_mapping.peers.ir2vec import IR2Vec, function_vectors, load_seeds

__all__ = ["DeepTune", "Grewe", "IR2Vec", "Inst2vec", "function_vectors", "load_seeds", "read_statements"]
