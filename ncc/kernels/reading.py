"""Kernels of an input, read and looked up in the embedding: where every prediction begins."""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.embedding import Embedding, Lookup
from ncc.errors import AssetError, InputError
from ncc.frontend import CompileOptions
from ncc.graph import reachable_statements
from ncc.inputs import load_module
from ncc.ir import Module

__all__ = ["Kernel", "Source", "check_embedding", "read_kernels"]

Source = str | os.PathLike[str] | bytes


@dataclass(frozen=True, eq=False)
class Kernel:
    """One kernel of a module.

    Attributes:
        module: The module.
        function: Number of the kernel among its functions.
        statements: (m,) int32 statements of the kernel and of what it calls.
        vectors: (num_statements of the module, dim) float32 vectors of its statements.
        lookup: How `statements` were found in the vocabulary.
    """

    module: Module
    function: int
    statements: NDArray[np.int32]
    vectors: NDArray[np.float32]
    lookup: Lookup

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.module.function_names[self.function]


def read_kernels(
    source: Source, embedding: Embedding, embedding_id: str | None, options: CompileOptions | None = None
) -> list[Kernel]:
    """Reads the kernels of a file or a text, in its order.

    Args:
        source: As for `ncc.embed`.
        embedding: Where statements are looked up.
        embedding_id: Fingerprint of the embedding that the head was trained on; None for a head that has none.
        options: How source is compiled.

    Raises:
        InputError: There is no kernel, or the input is missing, empty or of an unknown kind.
        CompileError: The compiler refuses the source.
        IRError: The IR can't be read.
        AssetError: The head was trained on another embedding.
    """
    if embedding_id is not None:
        check_embedding(embedding, embedding_id)
    module = load_module(source, options=options, abstraction=embedding.abstraction)
    if not module.num_functions:
        raise InputError(f"{module.name}: no function has a body, so there is no kernel")
    kernels = np.flatnonzero(module.function_is_kernel).tolist()
    if not kernels:
        raise InputError(
            f"{module.name}: no kernel among its {module.num_functions} function(s): expected a function marked "
            "__kernel (OpenCL) or __global__ (CUDA)"
        )
    lookup = embedding.look_up(module.texts).over(module.text_id)
    vectors = embedding.vectors[lookup.word]
    reachable = [reachable_statements(module, kernel) for kernel in kernels]
    return [
        Kernel(module, kernel, statements, vectors, lookup.over(statements))
        for kernel, statements in zip(kernels, reachable, strict=True)
    ]


def check_embedding(embedding: Embedding, embedding_id: str) -> None:
    """Refuses an embedding that a head was not trained on.

    Raises:
        AssetError: Its fingerprint is another.
    """
    if embedding_id != embedding.fingerprint:
        raise AssetError(
            f"the head was trained on embedding {embedding_id}, but {embedding.fingerprint} is loaded; "
            "train the head again with 'ncc train'"
        )
