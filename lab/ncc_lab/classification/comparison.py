"""Compares classifiers on the same splits: controls, the paper's head, and ours with its ablations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, load_embedding
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.loading import labelled_files, load_labelled_programs, programs_cache
from ncc_lab.classification.controls import count_controls, labels_of
from ncc_lab.classification.frozen import frozen_methods
from ncc_lab.classification.metrics import ClassificationMetrics
from ncc_lab.classification.task import PROTOCOLS, Classification, ClassificationMethod
from ncc_lab.controls import Majority
from ncc_lab.evaluation import Comparison, Score, choose, choose_methods, evaluate_all, runs_folder, seeds_from
from ncc_lab.report.classification import classes_table, draw_confusion, scores_table
from ncc_lab.report.kinds import highest
from ncc_lab.report.table import Table

if TYPE_CHECKING:
    from ncc.tasks.classification.network import NetworkTraining


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationComparison(Comparison[ClassificationMetrics]):
    """Scores of methods under protocols, and what they were measured on.

    Attributes:
        classes: Names of the classes.
        num_programs: Programs that compile.
        ways: How they compiled, see `ncc.ir.frontend.snippets.compile_program`.
        failures: File → reason, of those that don't.
    """

    title = "Algorithm classification: every method on the same programs"
    template = "classification.html.j2"
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

    def table(self, scores: Sequence[Score[ClassificationMetrics]]) -> Table:
        """Return the scores of one protocol."""
        return scores_table(scores)

    def page_values(self) -> dict[str, Any]:
        """Return classes that are hard, and those that are taken for each other, by the best method."""
        best = highest(self.scores, lambda score: score.metrics.accuracy)
        return {"classes": classes_table(best, self.classes), "confusion": draw_confusion(best, self.classes)}


def all_methods(
    embedding: Embedding, training: "NetworkTraining | None" = None, num_trees: int = 300
) -> tuple[ClassificationMethod, ...]:
    """Controls, the paper's head, ours and its ablations."""
    from ncc.tasks.classification.network import NetworkMethod, NetworkTraining, paper_training
    from ncc.tasks.classification.ngram_fit import NgramMethod
    from ncc.tasks.classification.train import CombinedMethod  # with torch

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
        Majority(labels_of),
        *count_controls(num_trees),
        NetworkMethod(embedding, paper_training(), name="LSTM (paper's head)", kind="published"),
        NgramMethod(embedding),
        CombinedMethod(NetworkMethod(embedding, ours), NgramMethod(embedding)),
        *(NetworkMethod(embedding, options, name=name) for name, options in ablations.items()),
    )


def evaluate_classification(
    folder: str | Path | None = None,
    *,
    classes: str | None = None,
    protocol: str = "grouped",
    method: Sequence[str] | None = None,
    per_class: Sequence[int] | None = None,
    levels: Sequence[str] = ("1",),
    embedding: AnyEmbedding | None = None,
    epochs: int = 12,
    seeds: int = 1,
    seed: int = 204,
    trees: int = 300,
    jobs: int = 1,
    cache: str | Path | None = None,
    no_cache: bool = False,
    programs: str | Path | None = None,
    data: str | None = None,
    options: CompileOptions | None = None,
    progress: Callable[[str], None] | None = None,
) -> ClassificationComparison:
    """Compares program classifiers with controls.

    Args:
        folder: Has a folder of programs for each class; default POJ-104.
        classes: Those to compare, as "81-104" or "sort,search"; default all.
        protocol: "grouped", "published", or "all".
        method: As for `evaluate_devmap`.
        per_class: Train on so many programs of a class; several numbers make a learning curve.
        levels: Optimisation levels to compile programs at.
        embedding: Vectors to begin with; default those that ship with ncc.
        epochs: Passes over the programs, for ours.
        seeds: As for `evaluate_devmap`.
        seed: As for `evaluate_devmap`.
        trees: As for `evaluate_devmap`.
        jobs: As for `evaluate_devmap`.
        cache: As for `evaluate_devmap`.
        no_cache: As for `evaluate_devmap`.
        programs: Folder where programs are kept once read; default the user's cache.
        data: As for `evaluate_devmap`.
        options: How programs are compiled, but for the level.
        progress: As for `evaluate_devmap`.

    Returns:
        Scores of every method under every protocol, with 95 % intervals.

    Raises:
        InputError: There is no such protocol, method or level, or there are too few classes or programs.
        DataError: POJ-104 is asked for and is missing or damaged.
        OutputError: A cache can't be written.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """
    from ncc.tasks.classification.network import NetworkTraining  # with torch

    runs = runs_folder(cache, no_cache)
    embedding = load_embedding(embedding)
    samples = load_labelled_programs(
        folder,
        levels,
        embedding,
        cache=programs,
        data=data,
        jobs=jobs,
        progress=progress,
        options=options,
        classes=classes,
    )
    training = NetworkTraining()
    training = replace(training, loop=replace(training.loop, epochs=epochs))
    files, names = labelled_files(folder, levels, data, classes)
    methods = (
        *all_methods(embedding, training, trees),
        *frozen_methods(files, names, embedding, Path(programs) if programs else programs_cache()),
    )
    return compare_classifiers(
        samples,
        methods,
        protocol=protocol,
        patterns=method or ("*",),
        per_class=per_class or (),
        seeds=seeds_from(seed, seeds),
        jobs=jobs,
        cache=runs,
        progress=progress,
    )


def compare_classifiers(
    samples: ProgramSamples,
    methods: Sequence[ClassificationMethod],
    *,
    protocol: str = "grouped",
    patterns: Sequence[str] = ("*",),
    per_class: Sequence[int] = (),
    **options: Any,
) -> ClassificationComparison:
    """Measure the methods that match a pattern; as `evaluate_classification`, with options of `evaluate_all`."""
    protocols = choose("protocol", protocol, PROTOCOLS)
    chosen = set(choose_methods(patterns, [method.name for method in methods]))
    if any(size < 1 for size in per_class):
        raise InputError(f"programs of a class: expected 1 or more, found {min(per_class)}")
    sizes = [f"/{size}" for size in sorted(per_class, reverse=True)] or [""]
    scores = evaluate_all(
        Classification(samples),
        [method for method in methods if method.name in chosen],
        [f"{name}{size}" for name in protocols for size in sizes],
        **options,
    )
    return ClassificationComparison(tuple(scores), samples.classes, len(samples), samples.ways, samples.failures)
