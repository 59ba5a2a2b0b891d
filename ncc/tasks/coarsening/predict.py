"""Predicts how many work-items of a kernel to merge into one, and the speedup."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ncc.errors import AssetError
from ncc.kernels.addresses import ACCESSING
from ncc.kernels.reading import Kernel
from ncc.system.files.summaries import Summarized, Summary, format_ratio
from ncc.system.files.text import demangle
from ncc.tasks.coarsening.head import MAX_SPEEDUP, CoarseningHead, LineHead, divergent_share


@dataclass(frozen=True, kw_only=True)
class CoarseningPrediction(Summarized):
    """The thread-coarsening factor of one kernel on one device.

    Attributes:
        kernel: The kernel's name.
        device: Name of the device; None for any other.
        factor: Work-items to merge into one, for the highest expected speedup; 1 means not to coarsen.
        speedup: Expected speedup over no coarsening at that factor.
        interval: (low, high), which contained the measured speedup in 80% of cases on held-out kernels if the answer
            was to coarsen; (1, 1) if ``factor`` is 1.
        speedups: Factor → expected speedup, ascending.
        features_used: Features that the answer depends on, by name: ``divergent_share``, the fraction of statements
            that only some work-items execute. Empty if the whole kernel was read.
        num_statements: Statements of the kernel and of what it calls.
        unknown_rate: Fraction of statements that backed off in the embedding; doesn't affect the answer.
        differences: How the kernel differs from all measured kernels, which are OpenCL on buffers; may be empty.
    """

    kernel: str
    device: str | None
    factor: int
    speedup: float
    interval: tuple[float, float]
    speedups: dict[int, float]
    features_used: dict[str, float] = field(default_factory=dict)
    num_statements: int
    unknown_rate: float
    differences: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons why the answer may not hold, and kernels with the same answer; empty if the whole kernel was read."""
        unlike = f"unlike the kernels that were measured: {' and '.join(self.differences)}" if self.differences else ""
        used = " and ".join(f"{name} = {value:.3g}" for name, value in self.features_used.items())
        same = f"based on {used} only; kernels with the same value get the same answer" if used else ""
        return tuple(filter(None, (unlike, same)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name, as ``--json`` prints them."""
        return asdict(self) | {"warnings": self.warnings, "demangled": demangle(self.kernel)}

    def summary(self) -> Summary:
        """Return the factor to merge by, undecided if the interval contains 1, and the speedup at each factor."""
        low, high = self.interval
        ratio = f"{format_ratio(self.speedup)} at {self.factor}"
        if self.factor == 1:
            verdict, interval, ratio = "don't merge", "", ""
        else:
            verdict = "undecided" if low <= 1 <= high else f"merge {self.factor}"
            interval = f"80%: {format_ratio(low)} to {format_ratio(high)}"
        return Summary(
            verdict=verdict,
            interval=interval,
            confidence=ratio,
            subject=demangle(self.kernel),
            details=[
                ("device", self.device or "any GPU; --device names one that was measured"),
                ("factor", ["".join(f"{factor:<8}" for factor in self.speedups)]),
                ("speedup", ["".join(f"{f'{speedup:.2f}x':<8}" for speedup in self.speedups.values())]),
                *(("caution", text) for text in self.warnings),
            ],
        )


def predict_kernel(head: CoarseningHead, kernel: Kernel, device: str | None) -> CoarseningPrediction:
    """Predict the best thread-coarsening factor of a kernel."""
    if isinstance(head, LineHead):
        share = divergent_share(kernel.module, kernel.function)
        used, speedups = {"divergent_share": share}, head.speedups(share, device)
    else:
        used, speedups = {}, head.speedups(kernel.sequence(), device)
    best = int(np.argmax(speedups))
    speedup, factor = float(speedups[best]), head.factors[best]
    if not speedup < MAX_SPEEDUP:
        raise AssetError(f"the thread-coarsening head is damaged: {speedup:g} times the speed at factor {factor}")
    low, high = (speedup * head.interval_quantiles).tolist() if best else (1.0, 1.0)
    module = kernel.module
    header, *body = [module.statement_text(statement) for statement in kernel.statements]
    opcodes = {module.opcode_name(statement) for statement in kernel.statements.tolist()}
    differences = {
        "it is a kernel of CUDA": any("@llvm.nvvm." in text for text in body),
        "it is a kernel of HIP": any("@llvm.amdgcn." in text for text in body),
        "it has images, pipes or samplers": "spirv." in header or "opencl." in header,
        "it accesses no memory": opcodes.isdisjoint(ACCESSING),
    }
    return CoarseningPrediction(
        kernel=kernel.name,
        device=device,
        factor=factor,
        speedup=speedup,
        interval=(low, high),
        speedups=dict(zip(head.factors, speedups.tolist(), strict=True)),
        features_used=used,
        num_statements=len(kernel.statements),
        unknown_rate=kernel.lookup.unknown_rate,
        differences=tuple(text for text, holds in differences.items() if holds),
    )
