"""How much of our coarsening score chance would bring: the same method on features dealt out anew among the kernels.

python benchmarks/coarsening_chance.py -o benchmarks/results/coarsening_chance.json

Seventeen kernels and a choice among hundreds of candidates can look like a result where there is none. Features are
dealt out anew among the kernels, so that they keep their values and correlations and lose their meaning; the method,
its choice inside the folds included, then runs through the same protocol.

Reference: Ojala and Garriga, Permutation Tests for Studying Classifier Performance, JMLR 11, 2010, section 3.1.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ncc.learning.heads.figures import Bootstrap
from ncc.system.files.provenance import command_line, environment
from ncc.tasks.coarsening.samples import CoarseningSamples, load_kernel_ir, load_samples
from ncc_lab.coarsening.chosen_line import ChosenLine
from ncc_lab.coarsening.sample_features import sample_features
from ncc_lab.coarsening.task import ThreadCoarsening
from ncc_lab.evaluation import evaluate_all

FIGURES = ("mean_speedup", "geomean_speedup")


def measure_chance(
    samples: CoarseningSamples, features: NDArray[np.float64], *, num_draws: int, seed: int = 204, jobs: int = 1
) -> dict[str, NDArray[np.float64]]:
    """Figure → its value with the features of the right kernels, then with features dealt out anew, (1 + draws,).

    Args:
        samples: The n samples.
        features: One row of features per sample, the same for all rows of a kernel, (n, k) float64.
        num_draws: How often features are dealt out.
        seed: Of the draws.
        jobs: Folds run at a time.
    """
    rng = np.random.default_rng(seed)
    _, first, owner = np.unique(samples.kernel, return_index=True, return_inverse=True)
    dealt = [features] + [features[first][rng.permutation(len(first))][owner] for _ in range(num_draws)]
    methods = [ChosenLine(one) for one in dealt]
    once = Bootstrap(num_resamples=1)  # no interval is asked for
    scores = evaluate_all(ThreadCoarsening(samples), methods, ["kernel"], (seed,), bootstrap=once, jobs=jobs)
    return {name: np.array([getattr(score.metrics, name).value for score in scores]) for name in FIGURES}


def p_value(found: NDArray[np.float64]) -> float:
    """Share of the draws that reach the first value, which counts as one of them."""
    return float((found >= found[0] - 1e-12).mean())


def main() -> None:
    """Measures, prints, and writes if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    samples = load_samples()
    features = sample_features(samples, load_kernel_ir())
    found = {
        "command": command_line("python benchmarks/coarsening_chance.py"),
        **environment(),
        "num_draws": options.draws,
    }
    for name, values in measure_chance(samples, features, num_draws=options.draws, jobs=options.jobs).items():
        found[name] = {
            "with_the_right_features": float(values[0]),
            "p_value": p_value(values),
            "quantile_95_of_draws": float(np.quantile(values[1:], 0.95)) if options.draws else None,
        }
    text = json.dumps(found, indent=1)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
