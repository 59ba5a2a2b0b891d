"""Trains a classifier on labelled programs, calibrates it on others, and measures it on the rest.

Classes are split into training, validation and test 3:1:1, with copies of a program on one side; Ben-Nun et al. 2018,
section 6.1, splits at random and lets copies fall on both sides. With ``--refit`` a classifier that was measured is
trained further on all programs.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import AssetError, InputError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, load_embedding
from ncc.learning.heads.figures import calibration_error
from ncc.learning.programs.labelled import ProgramSamples, load_labelled_programs
from ncc.learning.programs.table import ProgramTable
from ncc.learning.training.config import TrainingStatistics
from ncc.learning.training.ranks import process_group, rank_and_world, torch_threads, training_lock
from ncc.system.files.writing import check_folder
from ncc.tasks.classification.config import ClassifierTraining, NetworkTraining
from ncc.tasks.classification.head import ClassifierHead, load_classifier, save_classifier
from ncc.tasks.classification.ngrams import fit_ngrams, ngram_scores

NGRAM_WEIGHT = 4.5
"""Weight of the n-grams' margins beside the network's scores: of no great effect on the validation programs."""
_CALIBRATION_BINS = 15
"""Of equal width, as in Naeini, Cooper, Hauskrecht 2015 ("Obtaining well calibrated probabilities")."""
_SEED = 204
_SHARES = (3, 1, 1)


def train_classifier(
    folder: str | Path | None = None,
    output: str | Path | None = None,
    *,
    levels: Sequence[str] = ("1", "2", "0"),
    refit: str | Path | ClassifierHead | None = None,
    embedding: AnyEmbedding | None = None,
    config: ClassifierTraining = ClassifierTraining(),
    jobs: int = 1,
    device: str = "cpu",
    cache: str | Path | None = None,
    data: str | None = None,
    options: CompileOptions | None = None,
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> ClassifierHead | None:
    """Train a classifier on labelled folders of programs. Under torchrun the ranks share the work.

    Args:
        folder: Folder with a folder of programs for each class; default POJ-104.
        output: Folder of the classifier, and of a checkpoint that a stopped training resumes from.
        levels: Optimization levels to compile programs at.
        refit: Classifier, or its folder, to train further on all programs; its calibration and scores are kept.
        embedding: Vectors to start from; default the ones that ship with ncc.
        config: Options of the training.
        jobs: Compilers to run in parallel.
        device: "cpu" or "cuda"; under torchrun each rank takes a GPU of its own.
        cache: Folder that keeps programs once read; default the user's cache.
        data: Folder of data sets; default NCC_DATA, then the cache.
        options: Options of the compiler other than the level.
        card: Further entries of the model card.
        progress: Called with lines of text, most of them on the first rank.

    Returns:
        The classifier; None on all ranks but the first.

    Raises:
        InputError: Too few programs, an unknown level, or no such compiler.
        DataError: POJ-104 is asked for and is missing or damaged.
        AssetError: The classifier to refit knows other classes, levels or words.
        OutputError: A folder can't be written.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """
    check_positive(jobs=jobs)
    target = None if output is None else Path(output)
    check_folder(target)
    measured = load_classifier(refit) if isinstance(refit, str | Path) else refit
    checkpoint = target / "checkpoint.pt" if target else None
    with process_group(device) as rank_device, training_lock(target), torch_threads(1):
        embedding = load_embedding(embedding)
        samples = load_labelled_programs(
            folder, levels, embedding, cache=cache, data=data, jobs=jobs, progress=progress, options=options
        )
        tell = progress if progress and rank_and_world()[0] == 0 else lambda _: None
        head = fit_classifier(
            samples,
            embedding,
            config.network,
            refit=measured,
            device=rank_device,
            checkpoint=checkpoint,
            progress=lambda epoch, loss: tell(f"epoch {epoch}: {loss:.4f}"),
        )
        if head:
            head.about.update(card or {})
            head.titles.update((measured or load_classifier()).titles if measured or folder is None else {})
            if target:
                save_classifier(head, target)
            if checkpoint:
                checkpoint.unlink(missing_ok=True)
    return head


def fit_classifier(
    samples: ProgramSamples,
    embedding: Embedding,
    training: NetworkTraining,
    *,
    refit: ClassifierHead | None = None,
    device: str = "cpu",
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> ClassifierHead | None:
    """Train on three fifths of the programs, calibrate on one, and measure on the last; with `refit`, train on all."""
    from ncc.tasks.classification.network import fit_network  # with torch

    if refit:
        card = _measured_card(refit, samples, embedding)
        rows = np.arange(len(samples))
    else:
        split = split_samples(samples)
        rows = split.train
    rng = np.random.default_rng(training.loop.seed)
    statistics = TrainingStatistics()
    network = fit_network(
        samples,
        rows,
        embedding,
        training,
        rng,
        init_from=refit.network if refit else None,
        device=device,
        checkpoint=checkpoint,
        progress=(lambda epoch, loss, _: progress(epoch, loss)) if progress else None,
        statistics=statistics,
    )
    if rank_and_world()[0]:
        return None
    ngrams = fit_ngrams(samples, rows, embedding, rng)
    if refit:
        temperature, threshold = refit.temperature, refit.threshold
    else:

        def scores(rows: Ints) -> dict[str, Floats]:
            tables = {level: table.rows(rows) for level, table in samples.views.items()}
            return {
                level: network.scores(table) + NGRAM_WEIGHT * ngram_scores(ngrams, table, embedding)
                for level, table in tables.items()
            }

        temperature, threshold = calibrate(scores(split.valid), samples.label[split.valid])
        card = {"training": len(rows), "test": len(split.test)}
        card |= measure(scores(split.test), samples.label[split.test], temperature)
    return ClassifierHead(
        network=network.to_numpy(),
        ngrams=ngrams,
        ngram_weight=NGRAM_WEIGHT,
        classes=samples.classes,
        temperature=temperature,
        threshold=threshold,
        embedding_id=embedding.fingerprint,
        levels=tuple(samples.views),
        about={
            "programs": len(samples),
            "programs_that_do_not_compile": len(samples.failures),
            "levels": list(samples.views),
            **card,
            "seed": training.loop.seed,
            "options": asdict(network.training),
            "precision": statistics.precision,
        },
    )


def _measured_card(refit: ClassifierHead, samples: ProgramSamples, embedding: Embedding) -> dict[str, Any]:
    """Return what stays of the card of a measured classifier: programs that are trained on can't be measured on."""
    if refit.classes != samples.classes or refit.levels != tuple(samples.views):
        raise AssetError("the measured classifier was trained on other classes or levels")
    about = {name: refit.about.get(name) for name in ("test", "test_accuracy", "calibration_error")}
    num_training = refit.about.get("training")
    if (
        None in (num_training, *about.values())
        or refit.about.get("programs") != len(samples)
        or (num_training == len(samples))
    ):
        raise AssetError("the classifier to refit was not measured on these programs")
    if refit.embedding_id != embedding.fingerprint:
        raise AssetError("the measured classifier was trained on another embedding")
    return {
        "training": len(samples),
        "measured_when_trained_on": num_training,
        "measured_command": refit.about.get("command"),
        **about,
    }


def calibrate(scores: dict[str, Floats], label: Ints) -> tuple[float, float]:
    """Return temperature and threshold from the (n, num_classes) scores of held-out programs at each level."""
    answers = [probabilities([each]) for each in scores.values()]
    if len(scores) > 1:
        answers.append(probabilities([*scores.values()]))
    temperature = fit_temperature(np.concatenate(answers), np.tile(label, len(answers)))
    return temperature, fit_threshold(probabilities([each / temperature for each in scores.values()]))


def measure(scores: dict[str, Floats], label: Ints, temperature: float) -> dict[str, Any]:
    """Return accuracy and calibration error from the (n, num_classes) scores of test programs at each level."""
    together = probabilities([each / temperature for each in scores.values()])
    right = together.argmax(axis=1) == label
    accuracy = {"all levels together": right.mean()}
    accuracy |= {level: (each.argmax(axis=1) == label).mean() for level, each in scores.items()}
    return {
        "test_accuracy": {name: round(float(share), 4) for name, share in accuracy.items()},
        "calibration_error": round(calibration_error(together.max(axis=1), right, _CALIBRATION_BINS), 4),
    }


def probabilities(scores: Sequence[Floats]) -> Floats:
    """Turn the (n, num_classes) scores of programs, averaged over levels, into probabilities of the same shape."""
    from scipy.special import softmax

    return softmax(np.mean(scores, axis=0), axis=1)


def fit_temperature(probability: Floats, label: Ints) -> float:
    """The number that logarithms of probabilities are best divided by: the least cross-entropy on programs held out.

    Reference: Guo et al. 2017 ("On calibration of modern neural networks").

    Args:
        probability: (n, num_classes) float64.
        label: (n,) int64.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    scores = np.log(np.maximum(probability, 1e-12))

    def loss(log_temperature: float) -> float:
        return float(-log_softmax(scores / np.exp(log_temperature), axis=1)[np.arange(len(label)), label].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))


def fit_threshold(probability: Floats, share: float = 0.01) -> float:
    """The confidence that all but a share of the programs of known classes reach: (n, num_classes) float64."""
    return float(np.quantile(probability.max(axis=1), share))


@dataclass(frozen=True, eq=False)
class ProgramSplit:
    """Rows of a split, int64 each.

    Attributes:
        train: Rows to learn from.
        valid: Rows to choose and to calibrate by.
        test: Rows to measure on.
        group: (n,) int64 group of near-duplicates of each program.
    """

    train: Ints
    valid: Ints
    test: Ints
    group: Ints

    @property
    def has_duplicate(self) -> Bools:
        """(len(test),) bool, whether a test program has a near-duplicate among `train` or `valid`."""
        return np.isin(self.group[self.test], self.group[np.concatenate([self.train, self.valid])])


def split_samples(samples: ProgramSamples, *, is_grouped: bool = True) -> ProgramSplit:
    """Split programs; near-duplicates are found at the first level."""
    group = near_duplicates(next(iter(samples.views.values())))
    split = split_programs(samples.label, group, _SEED, is_grouped=is_grouped)
    if not min(len(split.train), len(split.valid), len(split.test)):
        raise InputError(f"{len(samples)} programs of {len(samples.classes)} classes are too few to be split 3:1:1")
    return split


def near_duplicates(table: ProgramTable) -> Ints:
    """Number the groups of programs with the same abstracted statements in the same order, (n,) int64.

    Names, constants and comments are then all that differs between programs of a group.
    """
    groups: dict[bytes, int] = {}
    return np.array(
        [
            groups.setdefault(hashlib.sha256(table.text_id[start:end].tobytes()).digest(), len(groups))
            for start, end in zip(table.start[:-1].tolist(), table.start[1:].tolist(), strict=True)
        ],
        np.int64,
    )


def split_programs(label: Ints, group: Ints, seed: int, *, is_grouped: bool = True) -> ProgramSplit:
    """Split each class 3:1:1.

    Arrays:
        label: (n,) int64 class of each program.
        group: (n,) int64 group of near-duplicates of each program.
    """
    rng = np.random.default_rng(seed)
    unit = group if is_grouped else np.arange(len(label))
    side = np.full(len(label), -1)
    side_of_unit: dict[int, int] = {}
    for index in range(int(label.max()) + 1):
        rows = np.flatnonzero(label == index)
        quota = len(rows) * np.array(_SHARES) / sum(_SHARES)
        units: dict[int, list[int]] = {}
        for row in rows[rng.permutation(len(rows))].tolist():
            units.setdefault(int(unit[row]), []).append(row)
        filled = np.zeros(len(_SHARES))
        # large groups first, or they would find no side with room; among equals the order stays drawn
        for key, members in sorted(units.items(), key=lambda item: -len(item[1])):
            chosen = side_of_unit.setdefault(key, int(np.argmax((quota - filled) / quota)))
            side[members] = chosen
            filled[chosen] += len(members)
    train, valid, test = (np.flatnonzero(side == index) for index in range(len(_SHARES)))
    return ProgramSplit(train, valid, test, group)
