"""IR2Vec's device mapper: boosted trees on function vectors made from seed vectors without training.

Reference: VenkataKeerthy et al., IR2Vec: LLVM IR Based Scalable Program Embeddings, TACO 17:4, 2020.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from ncc.arrays import Floats, Ints32
from ncc.errors import InputError
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module, NodeKind
from ncc.ir.reader.reader import read_module
from ncc.learning.data.registry import Folder
from ncc.learning.embedding.embedding import Embedding, load_embedding
from ncc.tasks.devices.published import DeviceMappingSamples, load_legacy_ir
from ncc_lab.controls import WithInputs
from ncc_lab.devices.controls import Trees, labels_of
from ncc_lab.vectors.entities import result_type
from ncc_lab.vectors.ir2vec import ARGUMENT_WEIGHT, compose_statement, read_seeds

Encoding = Literal["symbolic", "flow-aware"]

_AS_PUBLISHED = Abstraction(keep_casts=True)
"""IR2Vec reads what LLVM of its day prints, casts of pointers among it."""


@dataclass(frozen=True, eq=False)
class SeedVectors:
    """What functions' vectors are made of.

    Args:
        statement: From an abstracted statement to its symbolic vector, (dim,): 1 × opcode + 0.5 × type of the result
            + 0.2 × the kind of each operand.
        pointer: The kind of an operand that is a pointer, (dim,) float64; flow-aware, the operand's definition stands
            in its place.
        variable: The same for any other operand, (dim,) float64.
        abstraction: How statements must be abstracted.
    """

    statement: Callable[[str], NDArray[np.floating]]
    pointer: Floats
    variable: Floats
    abstraction: Abstraction

    @staticmethod
    def of_embedding(embedding: Embedding) -> "SeedVectors":
        """Return an embedding's vectors in place of seeds; nothing is taken out of them for an operand's kind."""
        nothing = np.zeros(embedding.dim)
        return SeedVectors(embedding.vector, nothing, nothing, embedding.abstraction)


def load_seeds(path: str | os.PathLike[str] | None = None) -> SeedVectors:
    """Load seed vectors.

    Args:
        path: IR2Vec's vocabulary, as `load_ir2vec` reads it; None stands for the embedding that ships with ncc.

    Raises:
        AssetError: The file is missing or damaged.
    """
    if path is None:
        return SeedVectors.of_embedding(load_embedding())
    seeds = read_seeds(Path(path))
    pointer, variable = (
        seeds.arguments.get(kind, np.zeros(seeds.dim)).astype(np.float64) for kind in ("pointer", "variable")
    )
    return SeedVectors(lambda text: compose_statement(text, seeds), pointer, variable, _AS_PUBLISHED)


def encode_function(module: Module, function: int, seeds: SeedVectors, encoding: Encoding) -> Floats:
    """Return the vector of a function and of all that it calls in its module, (dim,) float64.

    Symbolic, it is the sum of its statements' vectors. Flow-aware, an operand that is the result of a statement before
    it counts with that statement's whole vector (which counts its own operands in turn), not with that of its kind. An
    operand defined further down, which only a cycle can bring back, stays symbolic. Unlike the original's, definitions
    are not followed through memory.

    Args:
        module: The module, abstracted as the seeds ask for.
        function: Number of the function.
        seeds: Vectors of statements.
        encoding: "symbolic" or "flow-aware".

    Raises:
        InputError: There is no such encoding.

    Reference:
        VenkataKeerthy et al. 2020, section 4.
    """
    if encoding not in get_args(Encoding):
        raise InputError(f"no encoding {encoding!r}; expected one of {', '.join(get_args(Encoding))}")
    statements = reachable_statements(module, function)
    weight = np.ones(module.num_statements)
    total = np.zeros_like(seeds.pointer)
    if encoding == "flow-aware":
        # v(s) = symbolic(s) + 0.2 Σ (v(d) - kind(d)) over its operands' definitions d. All v(s) together are the sum of
        # symbolic vectors, each as often as it is counted: once, and 0.2 times as often as each statement that uses it.
        users, definitions = _uses(module, statements)
        for user, definition in zip(users[::-1].tolist(), definitions[::-1].tolist(), strict=True):
            weight[definition] += ARGUMENT_WEIGHT * weight[user]
        gives_pointer = np.array([result_type(text) == "pointerty" for text in module.texts], bool)
        is_pointer = gives_pointer[module.text_id[definitions]]
        for kind, chosen in ((seeds.pointer, is_pointer), (seeds.variable, ~is_pointer)):
            total -= ARGUMENT_WEIGHT * weight[users[chosen]].sum() * kind
    count = np.bincount(module.text_id[statements], weight[statements], minlength=len(module.texts))
    for text in np.flatnonzero(count).tolist():
        total += count[text] * seeds.statement(module.texts[text])
    return total


def _uses(module: Module, statements: Ints32) -> tuple[Ints32, Ints32]:
    """Users and definitions of all operands that are results of earlier statements, in the order of their users."""
    user, definition = module.operand_statement, module.operand_definition
    is_result = module.node_kind[module.operand] == NodeKind.RESULT  # of no matter at immediates, which have none
    chosen = is_result & (definition >= 0) & (definition < user) & np.isin(user, statements)
    return user[chosen], definition[chosen]


def function_vectors(
    samples: DeviceMappingSamples, seeds: SeedVectors, encoding: Encoding, folder: Folder = None
) -> Floats:
    """Return the vector of each row's kernel in the legacy IR.

    Args:
        samples: The n samples.
        seeds: From `load_seeds`.
        encoding: "symbolic" or "flow-aware".
        folder: The data folder; None stands for NCC_DATA, then the cache.

    Returns:
        One row for each sample, (n, dim) float64.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
        InputError: There is no such encoding.
    """
    legacy = load_legacy_ir(folder)
    names = [samples.ir_name(row) for row in range(len(samples))]
    vector_of = {}
    for name in set(names):
        module = read_module(legacy[name], name=name, abstraction=seeds.abstraction)
        vector_of[name] = encode_function(module, module.first_kernel, seeds, encoding)
    return np.stack([vector_of[name] for name in names])


def ir2vec_trees(vectors: Floats, encoding: Encoding) -> Trees:
    """Return boosted trees on vectors of functions, transfer bytes and work-group size.

    Trees are as deep, as many and as fast to learn as in the original, which boosts them by XGBoost. Nothing here is
    random: all seeds give the same answer.

    Args:
        vectors: From `function_vectors`, one row for each sample, (n, dim) float64.
        encoding: How they were made, for the name.

    Reference:
        VenkataKeerthy et al. 2020, section 5.
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
    return Trees(f"IR2Vec {encoding}", features, model, labels=labels_of, kind="published", draws=False)


def _sizes(samples: DeviceMappingSamples) -> Floats:
    return np.stack([samples.transfer_bytes, samples.wgsize], axis=1)
