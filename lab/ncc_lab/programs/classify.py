"""Classification of labeled programs: splits, figures, controls, the paper's head, ours and its ablations."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache as remember
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Floats32, Ints, Split
from ncc.ir.reader.native import OPCODES
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.table import ProgramTable
from ncc.tasks.classification.train import split_samples
from ncc_lab.controls import majority, sklearn_method
from ncc_lab.figures import SEED, Figure, calibration_error, macro_f1, mean, mean_where
from ncc_lab.frame import HoldOut, Method, Task

if TYPE_CHECKING:
    from ncc.tasks.classification.config import NetworkTraining

ClassificationMethod = Method[ProgramSamples]
"""A method that predicts (m, num_classes), a probability for each class."""

PROTOCOLS = ("grouped", "published")
_TITLES = {
    "grouped": "near-duplicates of a program on one side",
    "published": "programs drawn one by one, so that copies fall on both sides",
}
_DRAWS = 500
FIGURES: dict[str, Figure] = {
    "accuracy": mean("right", places=2),
    "accuracy_without_near_duplicates": mean_where("right", "is_alone", places=2),
    "top5": mean("is_among_five", places=2),
    "macro_f1": macro_f1("label", "chosen", places=2),
    "calibration_error": calibration_error("confidence", "right"),
}


def classification(samples: ProgramSamples, per_class: Sequence[int] = ()) -> Task[ProgramSamples]:
    """Return labeled programs as a task; they are split once, so a run's seed is the method's alone.

    Args:
        samples: The programs.
        per_class: Protocols "grouped/10" and so on train on at most that many programs of each class.
    """

    @remember
    def split(name: str) -> Any:
        return split_samples(samples, is_grouped=name == "grouped")

    def hold_out(name: str, most: int | None) -> HoldOut:
        def folds(_seed: int) -> Sequence[Split]:
            train = split(name).train
            return [(train if most is None else first_of_each(samples.label, train, most), split(name).test)]

        is_alone = np.ones(len(samples), bool)
        is_alone[split(name).test] = ~split(name).has_duplicate
        ((train, test),) = folds(SEED)
        title = f"{_TITLES[name]}; {len(train)} programs to train on, {len(test)} to test"
        return HoldOut(title, folds, "near-duplicate group", split(name).group, {"is_alone": is_alone})

    sizes = sorted(per_class, reverse=True)
    return Task(
        samples=samples,
        protocols={
            name if most is None else f"{name}/{most}": hold_out(name, most)
            for name in PROTOCOLS
            for most in (None, *sizes)
        },
        terms=lambda samples, rows, predicted: class_terms(samples.label[rows], predicted),
        widths=(len(samples.classes),),
        figures=FIGURES,
        perfect=np.eye(len(samples.classes))[samples.label],
        draws=_DRAWS,
        notes={"num_programs": len(samples), "ways": samples.ways, "failures": len(samples.failures)},
    )


def class_terms(label: Ints, probability: Floats) -> dict[str, NDArray[Any]]:
    """Return label and chosen class, whether that is right, and how sure it is: from (n,) and (n, num_classes)."""
    rank = (probability > probability[np.arange(len(label)), label][:, None]).sum(axis=1)
    chosen = probability.argmax(axis=1)
    return {
        "label": label,
        "chosen": chosen,
        "right": chosen == label,
        "is_among_five": rank < 5,
        "confidence": probability.max(axis=1),
    }


def first_of_each(label: Ints, rows: Ints, per_class: int) -> Ints:
    """Draw at most `per_class` rows of each class; a larger number adds rows to those of a smaller one."""
    drawn = rows[np.random.default_rng(SEED).permutation(len(rows))]
    parts = [drawn[label[drawn] == number][:per_class] for number in range(int(label.max()) + 1)]
    return np.sort(np.concatenate(parts))


# --- methods ---------------------------------------------------------------------------------------------------------


def count_controls(num_trees: int = 300) -> tuple[ClassificationMethod, ...]:
    """Return forests on opcodes and on statements, and a linear model on statements, all at the first level.

    Reference: "A Game-Based Framework to Compare Program Classifiers and Evaders" (CGO 2023) found histograms of
    opcodes with random forests on a par with learned embeddings.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    models: dict[str, tuple[Any, Any]] = {
        "opcode histogram + random forest": (_opcodes, RandomForestClassifier(num_trees)),
        "bag of statements + random forest": (_statements, RandomForestClassifier(num_trees)),
        "bag of statements + linear model": (_log_statements, LogisticRegression(C=10.0, tol=1e-3, max_iter=1000)),
    }
    return tuple(
        sklearn_method(name, counts, model, labels=labels_of, draws=False) for name, (counts, model) in models.items()
    )


def labels_of(samples: ProgramSamples) -> tuple[Ints, int]:
    """Return the index of each program's class, (n,), and how many classes there are."""
    return samples.label, len(samples.classes)


def _opcodes(samples: ProgramSamples, _seed: int) -> Floats32:
    return opcode_counts(next(iter(samples.variants.values())))


def _statements(samples: ProgramSamples, _seed: int) -> Any:
    return statement_counts(next(iter(samples.variants.values())))


def _log_statements(samples: ProgramSamples, _seed: int) -> Any:
    return _statements(samples, 0).log1p()


def opcode_counts(table: ProgramTable) -> Floats32:
    """Count how often each opcode occurs in each program: (n, opcodes)."""
    owner = np.repeat(np.arange(len(table)), np.diff(table.start))
    counts = np.zeros((len(table), len(OPCODES)), np.float32)
    np.add.at(counts, (owner, table.opcode), 1)
    return counts


def statement_counts(table: ProgramTable, numbers: NDArray[np.integer] | None = None) -> Any:
    """Count how often each abstracted statement occurs in each program, as a sparse matrix."""
    from scipy.sparse import csr_matrix

    column = table.text_id.copy() if numbers is None else numbers[table.text_id]  # sorting the matrix sorts this
    width = len(table.texts) if numbers is None else int(numbers.max(initial=0)) + 1
    counts = csr_matrix((np.ones(len(column), np.float32), column, table.start), shape=(len(table), width))
    counts.sum_duplicates()
    return counts


def paper_training() -> "NetworkTraining":
    """Return the paper's head: two LSTM layers over the embedding's frozen vectors, and their last state.

    Chrono initialization over 200 steps, or the last state knows little but a program's end for many epochs.

    Reference: Ben-Nun et al. 2018, section 6.1.
    """
    from ncc.learning.encoder.config import EncoderConfig, HeadConfig
    from ncc.learning.training.config import TrainingConfig
    from ncc.tasks.classification.config import NetworkTraining

    return NetworkTraining(
        encoder=EncoderConfig(hidden=200, memory=200, dropout=0.2),
        head=HeadConfig(dropout=0.2),
        label_smoothing=0.0,
        min_steps=1,
        all_levels=False,
        loop=TrainingConfig(epochs=25, batch_size=64, learning_rate=2e-3, mixed_precision=True),
    )


def all_methods(
    embedding: Embedding, training: "NetworkTraining | None" = None, num_trees: int = 300
) -> tuple[ClassificationMethod, ...]:
    """Return controls, the paper's head, ours and its ablations."""
    from ncc.tasks.classification.config import NetworkTraining
    from ncc_lab.programs.methods import network, ngrams, whole_classifier  # with torch

    ours = training or NetworkTraining()
    ablations = {
        "ncc's network alone": ours,
        "network without literals": replace(ours, encoder=replace(ours.encoder, buckets=0)),
        "network without pretraining": replace(ours, pretrained=False),
    }
    scorers = (
        network(embedding, paper_training(), "LSTM (paper's head)", "published"),
        ngrams(embedding),
        whole_classifier(embedding, ours),
        *(network(embedding, options, name) for name, options in ablations.items()),
    )
    return (majority(labels_of), *count_controls(num_trees), *(scorer.method for scorer in scorers))
