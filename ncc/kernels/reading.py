"""Kernels of an input, read and looked up in the embedding: where every prediction begins."""

import os
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats32, Ints, Ints32
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.inputs import load_module
from ncc.ir.reader.module import Module
from ncc.kernels.names import kernel_numbers
from ncc.learning.embedding.embedding import Embedding, Lookup

Source = str | os.PathLike[str] | bytes

LONGEST = 1024
"""Statements of a kernel that are read where they are read in order."""


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
    statements: Ints32
    vectors: Floats32
    lookup: Lookup

    def sequence(self) -> Floats32:
        """Vectors of the kernel's statements in order, cut to the first 1024: (time, dim)."""
        return self.vectors[self.statements[:LONGEST]]

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
        AssetError: The head was trained on another embedding, and not on one that this one extends.
    """
    if embedding_id is not None:
        embedding = embedding.version(embedding_id)
    module = load_module(source, options=options, abstraction=embedding.abstraction)
    kernels = kernel_numbers(module)
    lookup = embedding.look_up(module.texts).over(module.text_id)
    vectors = embedding.vectors[lookup.word]
    reachable = [reachable_statements(module, kernel) for kernel in kernels]
    return [
        Kernel(module, kernel, statements, vectors, lookup.over(statements))
        for kernel, statements in zip(kernels, reachable, strict=True)
    ]


def kernel_words(module: Module, embedding: Embedding, function: int | None = None) -> Ints:
    """Words of the statements of a kernel, a module's first by default, and of its callees; cut to the first 1024."""
    statements = reachable_statements(module, module.first_kernel if function is None else function)[:LONGEST]
    words, _ = embedding.vocabulary.encode(module.texts)
    return words[module.text_id[statements]].astype(np.int64)
