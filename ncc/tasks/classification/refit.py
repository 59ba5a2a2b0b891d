"""``ncc train classify --refit``: trains a classifier that was measured further, on all programs."""

import numpy as np

from ncc.errors import AssetError
from ncc.learning.programs.labelled import ProgramSamples
from ncc.tasks.classification.head import ClassifierHead
from ncc.tasks.classification.network import NetworkMethod
from ncc.tasks.classification.train import fit_combined


def refit_classifier(
    samples: ProgramSamples, network: NetworkMethod, measured: ClassifierHead, seed: int = 204
) -> ClassifierHead | None:
    """Trains a classifier that was measured further, on all programs.

    Its calibration and its scores stay: what is held out no more can't be measured on.

    Returns:
        The classifier; None on all ranks but the first, which are done when the network is.

    Raises:
        AssetError: The measured classifier knows other classes, levels or words, or was measured on other programs.
    """
    if measured.classes != samples.classes or measured.levels != tuple(samples.views):
        raise AssetError("the measured classifier was trained on other classes or levels")
    kept = ("training", "test", "test_accuracy", "calibration_error")
    about = {name: measured.about[name] for name in kept if name in measured.about}
    if len(about) < len(kept) or measured.about.get("programs") != len(samples) or about["training"] == len(samples):
        raise AssetError("the classifier to refit was not measured on these programs")
    if measured.embedding_id != network.embedding.fingerprint:
        raise AssetError("the measured classifier was trained on another embedding")
    method = fit_combined(network, samples, np.arange(len(samples)), seed)
    if method is None:
        return None
    return method.to_head(
        samples,
        seed,
        temperature=measured.temperature,
        threshold=measured.threshold,
        about={
            "training": len(samples),
            "measured_when_trained_on": about.pop("training"),
            "measured_command": measured.about.get("command"),
            **about,
        },
    )
