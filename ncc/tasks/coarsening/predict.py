"""Predicts how many work-items of a kernel to merge into one, and the speedup."""

import os
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ncc.errors import AssetError
from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.reading import Kernel, Source, read_kernels
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.system.files.pages import html_table
from ncc.system.files.text import source_name
from ncc.tasks.coarsening.features import divergent_share
from ncc.tasks.coarsening.head import MAX_SPEEDUP, CoarseningHead, LSTMHead, load_coarsening_head

_ACCESSES = ("load", "store", "atomicrmw", "cmpxchg", "call")


@dataclass(frozen=True, kw_only=True)
class CoarseningPrediction:
    """The thread-coarsening factor of one kernel on one device.

    Attributes:
        kernel: The kernel's name.
        platform: The device, or None for any other.
        factor: Work-items to merge into one: the factor of the highest expected speedup; 1 means not to coarsen.
        speedup: Expected speedup over no coarsening at that factor.
        interval: (low, high), which held the measured speedup in 80% of cases, on kernels held out, where the answer
            was to coarsen; (1, 1) where it is not to.
        speedups: Factor → expected speedup, ascending.
        basis: Everything that the answer depends on, by name, such as ``divergent_share``, the share of statements
            that not all work-items run: kernels alike in that get the same answer. Empty if the whole kernel was read,
            or the answer is a constant.
        is_constant: Whether the answer is the same for all kernels.
        num_statements: Statements of the kernel and of what it calls.
        unknown_rate: Share of them that backed off in the embedding; the answer does not depend on it.
        unlike: How the kernel differs from all that were measured, kernels of OpenCL on buffers; may be empty.
    """

    kernel: str
    platform: str | None
    factor: int
    speedup: float
    interval: tuple[float, float]
    speedups: dict[int, float]
    basis: dict[str, float] = field(default_factory=dict)
    is_constant: bool = False
    num_statements: int
    unknown_rate: float
    unlike: tuple[str, ...] = ()

    @property
    def doubt(self) -> str:
        """Why the answer may not hold, as text; empty if kernels of this kind were measured."""
        return f"unlike the kernels that were measured: {' and '.join(self.unlike)}" if self.unlike else ""

    @property
    def caveat(self) -> str:
        """Which kernels get the same answer, as text; empty if the whole kernel was read."""
        if self.is_constant:
            return "the best constant, the same for any kernel"
        known = " and ".join(f"{name} {value:.3g}" for name, value in self.basis.items())
        return known and f"told by {known} alone, and the same for any kernel with that"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name, as ``--json`` prints them."""
        return asdict(self) | {"demangled": source_name(self.kernel)}

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
    head: CoarseningHead | str | os.PathLike[str] | None = None,
    embedding: AnyEmbedding | None = None,
) -> tuple[CoarseningPrediction, ...]:
    """Predict the best thread-coarsening factor for every kernel of a file.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel in it; as for `ncc.embed`.
        platform: One of the head's ``devices`` ("Cypress" HD 5900, "Tahiti" HD 7970, "Fermi" GTX 480, "Kepler" K20c);
            None for any other.
        options: How source is compiled.
        language: As for `ncc.embed`.
        head: A head or its folder; default the one that ships with ncc.
        embedding: The one that it was trained on, or its folder, if on any; default the one that ships with ncc.

    Returns:
        One answer per kernel, in the order of the file.

    Raises:
        InputError: No kernel, an unknown platform, or what `ncc.embed` raises.
        CompileError, IRError: as for `ncc.embed`.
        AssetError: The head was trained on another embedding, or is damaged.

    Reference: Magni, Dubach, O'Boyle 2014 (task and data).
    """
    head = load_coarsening_head(head)
    embedding_id = head.embedding_id if isinstance(head, LSTMHead) else None
    options = CompileOptions.of(options, language)
    kernels = read_kernels(source, load_embedding(embedding), embedding_id, options)
    return tuple(_predict(head, kernel, platform) for kernel in kernels)


def _predict(head: CoarseningHead, kernel: Kernel, device: str | None) -> CoarseningPrediction:
    basis: dict[str, float] = {}
    if isinstance(head, LSTMHead):
        speedups = head.speedups(head.ensemble.encode(kernel.sequence()), device)
    else:
        share = divergent_share(kernel.module, kernel.function)
        speedups = head.speedups(share, device)
        basis = {"divergent_share": share} if head.slope.any() else {}
    best = int(np.argmax(speedups))
    speedup, factor = float(speedups[best]), head.factors[best]
    if not speedup < MAX_SPEEDUP:
        raise AssetError(
            f"the thread-coarsening head predicts {speedup:g} times the speed at factor {factor}; its file is damaged"
        )
    low, high = (speedup * head.interval_quantiles).tolist() if best else (1.0, 1.0)
    return CoarseningPrediction(
        kernel=kernel.name,
        platform=device,
        factor=factor,
        speedup=speedup,
        interval=(low, high),
        speedups=dict(zip(head.factors, speedups.tolist(), strict=True)),
        basis=basis,
        is_constant=not isinstance(head, LSTMHead) and not basis,
        num_statements=len(kernel.statements),
        unknown_rate=kernel.lookup.unknown_rate,
        unlike=_differences(kernel),
    )


def _differences(kernel: Kernel) -> tuple[str, ...]:
    """How a kernel differs from all that were measured."""
    module = kernel.module
    header, *body = [module.statement_text(statement) for statement in kernel.statements]
    opcodes = {module.opcode_name(statement) for statement in kernel.statements.tolist()}
    differences = {
        "it is a kernel of CUDA": any("@llvm.nvvm." in text for text in body),
        "it is a kernel of HIP": any("@llvm.amdgcn." in text for text in body),
        "it has images, pipes or samplers": "spirv." in header or "opencl." in header,
        "it accesses no memory": opcodes.isdisjoint(_ACCESSES),
    }
    return tuple(text for text, holds in differences.items() if holds)
