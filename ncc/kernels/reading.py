"""Kernels of an input, read and looked up in the embedding, and found by the names that people and profilers use."""

import os
import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from ncc.arrays import Floats32, Ints, Ints32
from ncc.errors import CompileError, InputError, UnknownNameError
from ncc.ir.frontend.languages import language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.inputs import load_module
from ncc.ir.reader.module import Module
from ncc.kernels.instructions import split_fields
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, Lookup, load_embedding
from ncc.system.files.text import demangle

Source = str | os.PathLike[str] | bytes

LONGEST = 1024
"""Maximum number of a kernel's statements that are read in order."""
NAMES_FLAG = "-fno-discard-value-names"
"""Option of the compiler that keeps the names of arguments."""
_TEMPLATE = re.compile(r"^(?:void )?([^(<]*(?:\(anonymous namespace\)::)?[^(<]*)(<.*)?", re.DOTALL)
_CAST = re.compile(r"\((?:int|unsigned int|bool|long|unsigned long|unsigned char|char|short)\)")
_SAME = {"true": "1", "false": "0", "unsignedint": "unsigned", "std::": ""}


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel, its (m,) int32 statements and those of its callees, and (num_statements, dim) float32 vectors."""

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
    source: Source, embedding: AnyEmbedding | None, embedding_id: str | None, options: CompileOptions, name: str | None
) -> list[Kernel]:
    """Read the kernels of a file, or those of a name, in its order, for a head trained on the embedding of an ID."""
    embedding = load_embedding(embedding)
    if embedding_id is not None:
        embedding = embedding.with_fingerprint(embedding_id)
    module = load_module(source, options=options, abstraction=embedding.abstraction)
    kernels = kernel_indices(module) if name is None else sorted(find_kernels(module, name))
    lookup = embedding.look_up(module.texts).expand(module.text_id)
    vectors = embedding.vectors[lookup.word]
    return [
        Kernel(module, kernel, statements := reachable_statements(module, kernel), vectors, lookup.expand(statements))
        for kernel in kernels
    ]


def kernel_words(module: Module, embedding: Embedding, function: int | None = None) -> Ints:
    """Words of the first 1024 statements of a kernel, a module's first by default, and of its callees, (m,) int64."""
    statements = reachable_statements(module, module.first_kernel if function is None else function)[:LONGEST]
    words, _ = embedding.vocabulary.encode(module.texts)
    return words[module.text_id[statements]].astype(np.int64)


def load_kernels(source: Source, kernel: str | None, options: CompileOptions | None) -> tuple[Module, list[int]]:
    """A module with the names of its arguments, and the indices of its kernels of a name, or of all."""
    options = options or CompileOptions()
    if options.language or (not isinstance(source, bytes) and language_of(source)):
        options = replace(options, flags=(NAMES_FLAG, *options.flags), debug_lines=True)
    module = load_module(source, options=options)
    return module, kernel_indices(module) if kernel is None else find_kernels(module, kernel)


def kernel_indices(module: Module) -> list[int]:
    """Indices of a module's kernels; an error if it has none."""
    module.check_functions()
    kernels: list[int] = np.flatnonzero(module.function_is_kernel).tolist()
    if not kernels:
        raise InputError(
            f"{module.name}: has functions but no kernel; expected one marked __kernel (OpenCL) or __global__ (CUDA, "
            "HIP), and a launch of each that is a template"
        )
    return kernels


def find_kernels(module: Module, name: str) -> list[int]:
    """Indices of kernels with a name: one if it is mangled or has template arguments, else all instances."""
    kernels = kernel_indices(module)
    if exact := [index for index in kernels if module.function_names[index] == name]:
        return exact[:1]
    plain, arguments = split_kernel_name(name)
    display_names = {index: demangle(module.function_names[index]) for index in kernels}
    split_names = {index: split_kernel_name(text) for index, text in display_names.items()}
    if matches := [index for index in kernels if split_names[index][0] == plain]:
        matches.sort(key=lambda index: -SequenceMatcher(None, arguments, split_names[index][1]).ratio())
        return matches[:1] if arguments or "(" in name else matches
    for function, reason in module.skipped_functions:
        if function == plain:
            raise CompileError(f"{module.name}: {plain} does not compile: {reason}", (reason,))
    nearest = sorted(kernels, key=lambda index: -SequenceMatcher(None, plain, split_names[index][0]).ratio())
    more = f" and {len(nearest) - 8} more" if len(nearest) > 8 else ""
    listed = ", ".join(display_names[index] for index in nearest[:8])
    raise UnknownNameError(f"{module.name}: no kernel named {name!r}; it has {listed}{more}")


def split_kernel_name(name: str) -> tuple[str, str]:
    """A kernel's plain name, and its template arguments in one spelling, with their brackets."""
    text = demangle(name).replace("(anonymous namespace)::", "")
    match = _TEMPLATE.match(text)
    plain, rest = (match[1], match[2] or "") if match else (text, "")
    rest = _CAST.sub("", rest).replace(" ", "")
    for other, same in _SAME.items():
        rest = rest.replace(other, same)
    return plain.split("::")[-1].split(" ")[-1].strip(), split_fields(rest, "<>", "(")[0]
