"""The table of algorithm classification: controls, the paper's head and ours with its ablations, on the same splits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ncc.classification.fit import CombinedMethod
from ncc.classification.network_fit import NetworkMethod, NetworkTraining, paper_training
from ncc.classification.ngram_fit import NgramMethod
from ncc.classification.samples import ProgramSamples
from ncc.embedding import Embedding
from ncc.errors import InputError
from ncc.study.classification.controls import Majority, count_controls
from ncc.study.classification.metrics import ClassificationMetrics
from ncc.study.classification.protocols import PROTOCOLS
from ncc.study.classification.task import Classification, ClassificationMethod
from ncc.study.evaluation import Comparison, Score, choose, choose_methods, evaluate_all
from ncc.study.report.classification import classification_text

__all__ = ["ClassificationComparison", "all_methods", "compare_classifiers"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationComparison(Comparison[ClassificationMetrics]):
    """Scores of methods under protocols, and what they were measured on.

    Attributes:
        classes: Names of the classes.
        num_programs: Programs that compile.
        ways: How they compiled, see `ncc.frontend.programs.compile_program`.
        failures: File → reason, of those that don't.
    """

    classes: tuple[str, ...]
    num_programs: int
    ways: dict[str, int]
    failures: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The same as of every comparison, and how many programs there were."""
        counts = {"num_programs": self.num_programs, "ways": self.ways, "failures": len(self.failures)}
        return counts | super().to_dict()

    def describe(self, score: Score[ClassificationMetrics]) -> dict[str, Any]:
        """Means over the seeds, with the interval and each seed's figure of the accuracy."""
        metrics = score.metrics
        return {
            "accuracy": metrics.accuracy.value,
            "interval": [metrics.accuracy.low, metrics.accuracy.high],
            "per_seed": metrics.accuracy.per_seed.tolist(),
            "accuracy_without_twins": metrics.accuracy_without_twins.value,
            "num_twins": metrics.num_twins,
            "top5": metrics.top5.value,
            "macro_f1": metrics.macro_f1,
            "calibration_error": metrics.calibration_error,
            "num_training": metrics.num_training,
        }

    def to_text(self) -> str:
        """Tables for people: every method under every protocol."""
        return classification_text(self)


def all_methods(
    embedding: Embedding, training: NetworkTraining | None = None, num_trees: int = 300
) -> tuple[ClassificationMethod, ...]:
    """Controls, the paper's head, ours and its ablations.

    Args:
        embedding: Vectors to begin with.
        training: How our network is trained; None for the defaults.
        num_trees: Trees of the controls' forests.
    """
    ours = training or NetworkTraining()
    encoder = ours.encoder
    ablations = {
        "ncc's network alone": ours,
        "network without literals": replace(ours, encoder=replace(encoder, buckets=0)),
        "network without pretraining": replace(ours, pretrained=False),
        "network without literals and pretraining": replace(
            ours, encoder=replace(encoder, buckets=0), pretrained=False
        ),
        "network with the vectors kept": replace(ours, encoder=replace(encoder, train_vectors=False)),
        "network with two layers": replace(ours, encoder=replace(encoder, layers=2)),
    }
    return (
        Majority(),
        *count_controls(num_trees),
        NetworkMethod(embedding, paper_training(), name="LSTM (paper's head)", kind="published"),
        NgramMethod(embedding),
        CombinedMethod(NetworkMethod(embedding, ours), NgramMethod(embedding)),
        *(NetworkMethod(embedding, options, name=name) for name, options in ablations.items()),
    )


def compare_classifiers(
    samples: ProgramSamples,
    methods: Sequence[ClassificationMethod],
    *,
    protocol: str = "grouped",
    patterns: Sequence[str] = ("*",),
    per_class: Sequence[int] = (),
    seeds: Sequence[int] = (204,),
    jobs: int = 1,
    cache: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> ClassificationComparison:
    """Measures methods under protocols.

    Args:
        samples: The programs.
        methods: As of `all_methods`.
        protocol: One of `PROTOCOLS`, or "all".
        patterns: Which methods to run, by their names, as a shell matches files.
        per_class: A learning curve: train on at most so many programs of each class; empty for all.
        seeds: Of the methods.
        jobs: Runs at a time.
        cache: Folder of earlier results; None keeps none.
        progress: Called with a line of text after each run.

    Raises:
        InputError: No method matches, or there is no such protocol.
    """
    protocols = choose("protocol", protocol, PROTOCOLS)
    chosen = set(choose_methods(patterns, [method.name for method in methods]))
    if any(size < 1 for size in per_class):
        raise InputError(f"programs of a class: expected 1 or more, found {min(per_class)}")
    sizes = [f"/{size}" for size in sorted(per_class, reverse=True)] or [""]
    scores = evaluate_all(
        Classification(samples),
        [method for method in methods if method.name in chosen],
        [f"{name}{size}" for name in protocols for size in sizes],
        seeds,
        jobs=jobs,
        cache=cache,
        progress=progress,
    )
    return ClassificationComparison(tuple(scores), samples.classes, len(samples), samples.ways, samples.failures)
