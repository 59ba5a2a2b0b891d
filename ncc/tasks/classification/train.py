"""Fits ncc's classifier: a network and a linear model on n-grams, whose scores are added."""

from dataclasses import asdict
from typing import Any

import numpy as np

from ncc.arrays import Ints
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.training.ranks import rank_and_world
from ncc.tasks.classification.head import ClassifierHead
from ncc.tasks.classification.network import NetworkMethod
from ncc.tasks.classification.ngram_fit import NgramMethod
from ncc.tasks.classification.scoring import SummedMethod

NGRAM_FACTOR = 4.5
"""What margins are multiplied by beside the network's scores: of no great effect on the validation programs."""


class CombinedMethod(SummedMethod):
    """A network and a linear model on n-grams."""

    def __init__(self, network: NetworkMethod, ngrams: NgramMethod) -> None:
        """Keeps both; nothing is trained before `fit`."""
        super().__init__("ncc", {network: 1.0, ngrams: NGRAM_FACTOR})
        self.network, self.ngrams = network, ngrams

    def to_head(
        self, samples: ProgramSamples, seed: int, *, temperature: float, threshold: float, about: dict[str, Any]
    ) -> ClassifierHead:
        """What was fitted, as it answers.

        Args:
            samples: The programs that it was fitted and calibrated on.
            seed: Of training, for the card.
            temperature: What scores are divided by.
            threshold: The confidence below which a program is none of the classes.
            about: What else the card says.
        """
        assert self.ngrams.model is not None
        return ClassifierHead(
            network=self.network.to_network(),
            ngrams=self.ngrams.model,
            ngram_factor=NGRAM_FACTOR,
            classes=samples.classes,
            temperature=temperature,
            threshold=threshold,
            embedding_id=self.network.embedding.fingerprint,
            levels=tuple(samples.views),
            about={
                "programs": len(samples),
                "programs_that_do_not_compile": len(samples.failures),
                "levels": list(samples.views),
                **about,
                "seed": seed,
                "options": asdict(self.network.training),
                "precision": self.network.statistics.precision,
            },
        )


def fit_combined(network: NetworkMethod, samples: ProgramSamples, rows: Ints, seed: int) -> CombinedMethod | None:
    """Fits both parts, where several ranks may share the network's training.

    Args:
        network: The network, not trained yet.
        samples: Labelled programs.
        rows: Those to train on, (m,) int64.
        seed: Of training.

    Returns:
        Both; None on all ranks but the first, which are done when the network is.
    """
    rng = np.random.default_rng(seed)
    network.fit(samples, rows, rng)
    if rank_and_world()[0]:
        return None
    ngrams = NgramMethod(network.embedding)
    ngrams.fit(samples, rows, rng)
    return CombinedMethod(network, ngrams)
