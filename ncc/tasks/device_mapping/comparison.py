"""Every method under every protocol, controls beside heads: the table that a score has to stand in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ncc.embedding import load_embedding
from ncc.errors import InputError
from ncc.ir import OPCODES, read_module
from ncc.tasks.device_mapping.controls import DeviceMethod, TreeConfig, standard_controls
from ncc.tasks.device_mapping.evaluation import DeviceMappingScore, evaluate
from ncc.tasks.device_mapping.head import LSTMMethod, RatioTraining, load_words
from ncc.tasks.device_mapping.protocols import PROTOCOLS
from ncc.tasks.device_mapping.samples import DeviceMappingSamples, Platform, load_legacy_ir, load_samples
from ncc.training import TrainingConfig

__all__ = ["DeviceComparison", "compare_devices", "opcode_histograms"]


@dataclass(frozen=True)
class DeviceComparison:
    """Scores of all that was run, in the order in which it ran."""

    scores: tuple[DeviceMappingScore, ...]

    def to_dict(self) -> dict[str, Any]:
        """``protocols`` → ``"protocol/platform"`` → ``methods`` → figures, as ``--json`` prints them."""
        protocols: dict[str, Any] = {}
        for score in self.scores:
            entry = protocols.setdefault(f"{score.protocol}/{score.platform}", {"methods": {}})
            accuracy = score.metrics.accuracy
            entry["methods"][score.method] = {
                "accuracy": accuracy.value,
                "interval": [accuracy.low, accuracy.high],
                "macro_f1": score.metrics.macro_f1.value,
                "geomean_speedup": score.metrics.geomean_speedup.value,
                "mean_speedup": score.metrics.mean_speedup.value,
                "share_of_oracle": score.metrics.share_of_oracle.value,
                "num_samples": score.num_samples,
                "seeds": list(score.seeds),
                "seconds": round(score.seconds, 2),
            }
        return {"protocols": protocols}

    def to_text(self) -> str:
        """A table for people: accuracy with its interval, speedups over the best static choice, share of oracle."""
        lines = [
            f"{'protocol':<12}{'platform':<9}{'method':<34}{'accuracy':>9}{'interval':>16}{'geomean':>9}{'oracle':>8}"
            f"{'seconds':>9}"
        ]
        for score in self.scores:
            accuracy, metrics = score.metrics.accuracy, score.metrics
            interval = f"{accuracy.low:.1%}–{accuracy.high:.1%}"
            lines.append(
                f"{score.protocol:<12}{score.platform:<9}{score.method:<34}{accuracy.value:>9.1%}{interval:>16}"
                f"{metrics.geomean_speedup.value:>8.2f}x{metrics.share_of_oracle.value:>8.1%}{score.seconds:>9.1f}"
            )
        return "\n".join(lines)


def opcode_histograms(samples: DeviceMappingSamples, folder: str | None = None) -> NDArray[np.float64]:
    """How often each opcode occurs in each row's kernel (legacy IR): (n, num_opcodes) float64.

    Raises:
        DataError: the archive of legacy IR is missing or damaged.
    """
    legacy = load_legacy_ir(folder)
    counts = {
        name: np.bincount(read_module(text, name=name).opcode, minlength=len(OPCODES)) for name, text in legacy.items()
    }
    return np.array([counts[samples.ir_name(row)] for row in range(len(samples))], np.float64)


def compare_devices(
    protocol: str = "all",
    platform: str = "all",
    *,
    with_lstm: bool = False,
    num_trees: int = 300,
    epochs: int = 15,
    seed: int = 204,
    folder: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> DeviceComparison:
    """Runs the controls, and the LSTM head if asked to, under protocols and platforms.

    Args:
        protocol: one of `PROTOCOLS`, or "all".
        platform: "amd", "nvidia", or "all".
        with_lstm: train the LSTM head on the shipped embedding as well, one member a fold.
        num_trees: trees of the controls' forests.
        epochs: of the LSTM head.
        seed: of methods; folds keep theirs.
        folder: data folder; None stands for NCC_DATA, then the cache.
        progress: called with a line of text now and then.

    Raises:
        InputError: there is no such protocol or platform.
        DataError: the tables or the IR are missing or damaged.
    """
    protocols = _chosen("protocol", protocol, PROTOCOLS)
    platforms = _chosen("platform", platform, get_args(Platform))
    scores = []
    for name in platforms:
        samples = load_samples(name, folder)  # type: ignore[arg-type]
        methods: list[DeviceMethod] = [
            *standard_controls(opcode_histograms(samples, folder), TreeConfig(num_trees=num_trees))
        ]
        if with_lstm:
            embedding = load_embedding()
            training = RatioTraining(loop=TrainingConfig(epochs=epochs, batch_size=16))
            methods.append(LSTMMethod(embedding, load_words(samples, embedding, folder), training))
        for each in protocols:
            for method in methods:
                scores.append(evaluate(samples, method, each, (seed,)))  # type: ignore[arg-type]
                if progress:
                    progress(f"{name}, {each}, {method.name}: {scores[-1].seconds:.1f} s")
    return DeviceComparison(tuple(scores))


def _chosen(what: str, name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    if name == "all":
        return known
    if name not in known:
        raise InputError(f"{what} is {name!r}; expected one of {', '.join(known)}, all")
    return (name,)
