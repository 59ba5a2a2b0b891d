"""``ncc train classify``: trains a classifier on some labelled programs, calibrates and measures it on others.

With ``--refit`` it is trained further on all of them: `ncc.tasks.classification.refit`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.learning.heads.calibration_error import calibration_error
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.loading import load_labelled_programs
from ncc.learning.training.ranks import process_group, rank_and_world, torch_threads, training_lock
from ncc.system.files.writing import check_folder
from ncc.tasks.classification.files import load_classifier, save_classifier
from ncc.tasks.classification.head import ClassifierHead
from ncc.tasks.classification.split import split_samples

if TYPE_CHECKING:
    from ncc.tasks.classification.network import NetworkMethod

_CALIBRATION_BINS = 15
"""Of equal width, as in Naeini, Cooper, Hauskrecht 2015 ("Obtaining well calibrated probabilities")."""


def train_classifier(
    folder: str | Path | None = None,
    output: str | Path | None = None,
    *,
    levels: Sequence[str] = ("1", "2", "0"),
    refit: str | Path | ClassifierHead | None = None,
    embedding: AnyEmbedding | None = None,
    epochs: int = 12,
    hidden: int = 128,
    layers: int = 1,
    min_steps: int = 600,
    batch_size: int = 64,
    batch_of_all: bool = False,
    cut: str = "samples",
    learning_rate: float = 2e-3,
    rate_rule: str = "sqrt",
    strategy: str = "mirrored",
    staleness: int = 1,
    sync_every: int = 8,
    compression: str = "none",
    accumulate: int = 1,
    seed: int = 204,
    jobs: int = 1,
    device: str = "cpu",
    cache: str | Path | None = None,
    data: str | None = None,
    options: CompileOptions | None = None,
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> ClassifierHead | None:
    """Trains a classifier on labelled folders of programs. Under torchrun the ranks share the work.

    Args:
        folder: Has a folder of programs for each class; default POJ-104.
        output: Folder that gets the classifier, and while it is trained a checkpoint to go on from after a stop.
        levels: Optimisation levels to compile programs at.
        refit: A classifier, or its folder, to train further on all programs; its calibration and scores are kept.
        embedding: Vectors to begin with; default the one that ships with ncc.
        epochs: Passes over the programs.
        hidden: Units of each direction of the LSTM.
        layers: Bidirectional LSTM layers.
        min_steps: Steps at least; few programs are seen more often.
        batch_size: Programs of a step, of each rank.
        batch_of_all: Whether they are instead those of all ranks together, and the learning rate stays.
        cut: What batches have alike: "samples", or "tokens", in which case they are hardly padded.
        learning_rate: Of AdamW with one rank.
        rate_rule: How it grows with the ranks and their batches: "sqrt", "linear" or "none".
        strategy: How ranks share the work: "mirrored", "central", "stale" or "local".
        staleness: Steps that a stale gradient may be late.
        sync_every: Steps between averages of local weights.
        compression: How mirrored gradients are sent: "none", "fp16", "bf16", "topk", "int8" or "int4".
        accumulate: Pieces that a rank's part of a batch is computed in.
        seed: Of everything that is drawn.
        jobs: Compilers at a time.
        device: "cpu" or "cuda"; under torchrun each rank takes a GPU of its own.
        cache: Folder where programs are kept once read; default the user's cache.
        data: Folder of datasets; default NCC_DATA, then the cache.
        options: How programs are compiled, but for the level.
        about: What else the card is to say, such as the command.
        progress: Called with a line of text now and then, for most of them on the first rank.

    Returns:
        The classifier; None on all ranks but the first.

    Raises:
        InputError: A value is out of its range, unknown, or does not go with another.
        DataError: POJ-104 is asked for and is missing or damaged.
        AssetError: The classifier to refit knows other classes, levels or words.
        OutputError: A folder can't be written.

    Reference: Ben-Nun et al. 2018, section 6.1 (task); Mou et al. 2016 (data).
    """
    from ncc.learning.encoder.network_model import program_encoder
    from ncc.learning.training.config import TrainingConfig
    from ncc.tasks.classification.network import NetworkMethod, NetworkTraining  # with torch
    from ncc.tasks.classification.refit import refit_classifier

    place = None if output is None else Path(output)
    check_positive(jobs=jobs, min_steps=min_steps)
    check_folder(place)
    measured = load_classifier(refit) if isinstance(refit, str | Path) else refit
    loop = TrainingConfig(
        epochs=epochs,
        batch_size=batch_size,
        global_batch=batch_of_all,
        learning_rate=learning_rate,
        lr_scaling=rate_rule,
        mixed_precision=True,
        strategy=strategy,
        staleness=staleness,
        sync_every=sync_every,
        compression=compression,
        micro_batches=accumulate,
        seed=seed,
    )
    checkpoint = place / "checkpoint.pt" if place else None
    with process_group(device) as own_device, training_lock(place), torch_threads(1):
        embedding = load_embedding(embedding)
        samples = load_labelled_programs(
            folder, levels, embedding, cache=cache, data=data, jobs=jobs, progress=progress, options=options
        )
        how = NetworkTraining(encoder=program_encoder(hidden, layers), min_steps=min_steps, cut=cut, loop=loop)
        tell = progress if progress and rank_and_world()[0] == 0 else None
        network = NetworkMethod(
            embedding,
            how,
            begin_with=measured.network if measured else None,
            device=own_device,
            checkpoint=checkpoint,
            progress=(lambda epoch, loss: tell(f"epoch {epoch}: {loss:.4f}")) if tell else None,
        )
        if measured:
            head = refit_classifier(samples, network, measured, seed)
        else:
            head = fit_classifier(samples, network, seed)
        if head:
            head.about.update(about or {})
            head.titles.update((measured or load_classifier()).titles if measured or folder is None else {})
            if place:
                save_classifier(head, place)
            if checkpoint:
                checkpoint.unlink(missing_ok=True)
    return head


def fit_classifier(samples: ProgramSamples, network: "NetworkMethod", seed: int = 204) -> ClassifierHead | None:
    """Trains on three fifths of the programs, calibrates on one, and measures on the last.

    Args:
        samples: Labelled programs; each is drawn at one of its levels at a time.
        network: Not trained yet.
        seed: Of training.

    Returns:
        The classifier; None on all ranks but the first, which are done when the network is.
    """
    from ncc.tasks.classification.scoring import probabilities
    from ncc.tasks.classification.train import fit_combined  # with torch

    split = split_samples(samples)
    method = fit_combined(network, samples, split.train, seed)
    if method is None:
        return None
    levels = list(samples.views)
    valid, test = ([method.scores(samples, level, rows) for level in levels] for rows in (split.valid, split.test))
    answers = [probabilities([scores]) for scores in valid]
    if len(levels) > 1:
        answers.append(probabilities(valid))
    temperature = fit_temperature(np.concatenate(answers), np.tile(samples.label[split.valid], len(answers)))
    by_level = {level: probabilities([scores]) for level, scores in zip(levels, test, strict=True)}
    together = probabilities([scores / temperature for scores in test])
    right = together.argmax(axis=1) == samples.label[split.test]
    return method.to_head(
        samples,
        seed,
        temperature=temperature,
        threshold=fit_threshold(probabilities([scores / temperature for scores in valid])),
        about={
            "training": len(split.train),
            "test": len(split.test),
            "test_accuracy": {
                "all levels together": round(float(right.mean()), 4),
                **{level: round(_accuracy(found, samples.label[split.test]), 4) for level, found in by_level.items()},
            },
            "calibration_error": round(calibration_error(together.max(axis=1), right, _CALIBRATION_BINS), 4),
        },
    )


def _accuracy(probability: Floats, label: Ints) -> float:
    return float((probability.argmax(axis=1) == label).mean())


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
