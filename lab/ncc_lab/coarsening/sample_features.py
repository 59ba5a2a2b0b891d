"""Features of the samples' kernels, one row per sample."""

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.reader import read_module
from ncc.tasks.coarsening.samples import CoarseningSamples
from ncc_lab.coarsening.features import coarsening_features


def sample_features(samples: CoarseningSamples, ir: dict[str, bytes]) -> Floats:
    """Describe each row's kernel.

    Returns:
        One row of features per sample, (n, 16) float64.
    """
    found = {name: coarsening_features(read_module(ir[name], name=name)) for name in dict.fromkeys(samples.kernel)}
    return np.stack([found[name] for name in samples.kernel])


def opcode_histograms(samples: CoarseningSamples, ir: dict[str, bytes]) -> Floats:
    """Count how often each opcode occurs in each row's kernel.

    Returns:
        One row of counts per sample, (n, number of opcodes that occur) float64.
    """
    opcodes = {name: read_module(ir[name], name=name).opcode for name in dict.fromkeys(samples.kernel)}
    counts = np.stack([np.bincount(opcodes[name], minlength=256) for name in samples.kernel]).astype(np.float64)
    return counts[:, counts.any(axis=0)]
