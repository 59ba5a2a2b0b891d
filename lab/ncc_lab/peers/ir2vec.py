"""IR2Vec's device mapper: boosted trees on function vectors summed from vectors of statements without training.

The original's vectors of statements are its seed vectors; here they are those of an embedding of ours.

Reference: VenkataKeerthy et al., IR2Vec: LLVM IR Based Scalable Program Embeddings, TACO 17:4, 2020.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from ncc.arrays import Floats
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.reader.module import Module, NodeKind
from ncc.learning.data.registry import Folder
from ncc.learning.embedding.embedding import Embedding
from ncc_lab.controls import WithInputs, sklearn_method
from ncc_lab.devices.devmap import DeviceMethod, as_score, labels_of
from ncc_lab.devices.samples import DeviceMappingSamples, describe_kernels

_ARGUMENT_WEIGHT = 0.2
"""Of an operand beside its statement, as published."""


def encode_function(module: Module, function: int, vector: Callable[[str], NDArray[np.floating]]) -> Floats:
    """Return the flow-aware vector of a function and of everything that it calls in its module, (dim,) float64.

    It is the sum of its statements' vectors, where each statement also counts 0.2 times the whole vector of every
    earlier statement whose result it uses. An operand defined further down, which only a cycle can bring back, adds
    nothing. Unlike the original's, definitions are not followed through memory.

    Reference: VenkataKeerthy et al. 2020, section 4.
    """
    statements = reachable_statements(module, function)
    weight = np.ones(module.num_statements)
    # v(s) = vector(s) + 0.2 Σ v(d) over its operands' definitions d. All v(s) together are the sum of vectors, each
    # as often as it is counted: once, and 0.2 times as often as each statement that uses it.
    user, definition = module.operand_statement, module.operand_definition
    is_result = module.node_kind[module.operand] == NodeKind.RESULT  # of no matter at immediates, which have none
    used = is_result & (definition >= 0) & (definition < user) & np.isin(user, statements)
    pairs = zip(user[used][::-1].tolist(), definition[used][::-1].tolist(), strict=True)
    for user_statement, defining_statement in pairs:
        weight[defining_statement] += _ARGUMENT_WEIGHT * weight[user_statement]
    count = np.bincount(module.text_id[statements], weight[statements], minlength=len(module.texts))
    texts = np.flatnonzero(count)
    vectors = np.stack([vector(module.texts[text]) for text in texts.tolist()]).astype(np.float64)
    return np.asarray(count[texts] @ vectors, np.float64)


def function_vectors(samples: DeviceMappingSamples, embedding: Embedding, folder: Folder = None) -> Floats:
    """Return the vector of each row's kernel in the legacy IR, (n, dim) float64."""

    def encode(module: Module) -> Floats:
        return encode_function(module, module.first_kernel, embedding.vector)

    return describe_kernels(samples, encode, folder, embedding.abstraction)


def ir2vec_trees(vectors: Floats) -> DeviceMethod:
    """Return boosted trees on vectors of functions, (n, dim), transfer bytes and work-group size.

    Trees are as deep, as many and as fast to learn as in the original, which boosts them by XGBoost. Nothing here is
    random: all seeds give the same answer.

    Reference: VenkataKeerthy et al. 2020, section 5.
    """
    model = HistGradientBoostingClassifier(
        max_iter=70,
        learning_rate=0.5,
        max_depth=10,
        max_leaf_nodes=None,
        min_samples_leaf=4,  # XGBoost asks for a curvature of 1, which 4 undecided rows have
        l2_regularization=1.0,
        early_stopping=False,
    )
    features = WithInputs(vectors, _sizes)
    trees = sklearn_method("IR2Vec flow-aware", features, model, labels=labels_of, kind="published", draws=False)
    return as_score(trees)


def _sizes(samples: DeviceMappingSamples) -> Floats:
    return np.stack([samples.transfer_bytes, samples.wgsize], axis=1)
