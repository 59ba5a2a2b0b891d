"""Predicts how many work-items of a kernel to merge into one, and the speedup."""

import os
from dataclasses import dataclass
from typing import Any

from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.reading import Kernel, Source, read_kernels
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.system.files.pages import html_table
from ncc.system.files.text import source_name
from ncc.tasks.coarsening.files import AnyCoarseningHead, load_coarsening_head
from ncc.tasks.coarsening.head import CoarseningPrediction
from ncc.tasks.coarsening.lstm_head import LSTMCoarseningHead

_ACCESSES = ("load", "store", "atomicrmw", "cmpxchg", "call")


@dataclass(frozen=True, kw_only=True)
class CoarseningAdvice(CoarseningPrediction):
    """The thread-coarsening factor for one kernel, with what `CoarseningPrediction` says about it.

    Attributes:
        kernel: The kernel's name.
        platform: The device asked about, or None for what all devices together say.
        num_statements: Statements of the kernel and of what it calls.
        unknown_rate: Share of them that backed off in the embedding; the answer does not depend on it.
        unlike: In what the kernel differs from all that were measured, kernels of OpenCL on buffers; empty where it
            does not.
    """

    kernel: str
    platform: str | None
    num_statements: int
    unknown_rate: float
    unlike: tuple[str, ...] = ()

    @property
    def doubt(self) -> str:
        """Why the answer may not hold, in words; empty where it rests on kernels of this kind."""
        return f"unlike the kernels that were measured: {' and '.join(self.unlike)}" if self.unlike else ""

    @property
    def caveat(self) -> str:
        """What the head can't tell apart, in words; empty where it looks at the whole kernel."""
        if self.is_constant:
            return "the best constant, the same for any kernel: nothing told what kernels held out gain"
        known = " and ".join(f"{name} {value:.3g}" for name, value in self.basis.items())
        return known and f"told by {known} alone, and the same for any kernel with that"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name, as ``--json`` prints them."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return values | {"demangled": source_name(self.kernel)}

    def _repr_html_(self) -> str:
        rows = [
            (factor, f"{speedup:.2f}×", "best" if factor == self.factor else "")
            for factor, speedup in self.speedups.items()
        ]
        caption = f"{source_name(self.kernel)} on {self.platform or 'any device'}"
        caption += "".join(f"; {note}" for note in (self.doubt, self.caveat) if note)
        return html_table(caption, ("factor", "expected speedup", ""), rows)


def predict_coarsening(
    source: Source,
    *,
    platform: str | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: AnyCoarseningHead | str | os.PathLike[str] | None = None,
    embedding: AnyEmbedding | None = None,
) -> tuple[CoarseningAdvice, ...]:
    """Predicts the best thread-coarsening factor for every kernel of a file.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel in it; as for `ncc.embed`.
        platform: One of the head's ``devices`` ("Cypress" HD 5900, "Tahiti" HD 7970, "Fermi" GTX 480, "Kepler" K20c);
            None for any other.
        options: How source is compiled.
        language: As for `ncc.embed`.
        head: A head or its folder; default the one that ships with ncc.
        embedding: The one that it was trained on, or its folder, if on any; default the one that ships with ncc.

    Returns:
        One answer a kernel, in the order of the file.

    Raises:
        InputError: No kernel, an unknown platform, or what `ncc.embed` raises.
        CompileError, IRError: as for `ncc.embed`.
        AssetError: The head was trained on another embedding.

    Reference: Magni, Dubach, O'Boyle 2014 (task and data).
    """
    head = load_coarsening_head(head)
    answers = []
    embedding_id = head.embedding_id if isinstance(head, LSTMCoarseningHead) else None
    options = CompileOptions.of(options, language)
    for kernel in read_kernels(source, load_embedding(embedding), embedding_id, options):
        answers.append(
            CoarseningAdvice(
                kernel=kernel.name,
                platform=platform,
                num_statements=len(kernel.statements),
                unknown_rate=kernel.lookup.unknown_rate,
                unlike=_unlike(kernel),
                **vars(head.answer(kernel, platform)),
            )
        )
    return tuple(answers)


def _unlike(kernel: Kernel) -> tuple[str, ...]:
    """In what a kernel differs from all that were measured."""
    module = kernel.module
    header, *body = [module.statement_text(statement) for statement in kernel.statements]
    found = {
        "it is a kernel of CUDA": any("@llvm.nvvm." in text for text in body),
        "it is a kernel of HIP": any("@llvm.amdgcn." in text for text in body),
        "it has images, pipes or samplers": "spirv." in header or "opencl." in header,
        "it accesses no memory": not any(module.opcode_name(one) in _ACCESSES for one in kernel.statements.tolist()),
    }
    return tuple(reason for reason, holds in found.items() if holds)
