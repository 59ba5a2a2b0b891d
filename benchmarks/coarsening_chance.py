"""How much of our coarsening score chance would bring: the same method on features dealt out anew among the kernels.

python benchmarks/coarsening_chance.py -o benchmarks/results/coarsening_chance.json
"""

import argparse
import json
from pathlib import Path

import numpy as np

from ncc.coarsening.features import sample_features
from ncc.coarsening.samples import load_kernel_ir, load_samples
from ncc.runtime.provenance import command_line, environment
from ncc.study.coarsening.noise import measure_chance


def main() -> None:
    """Measures, prints, and writes if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    samples = load_samples()
    level = measure_chance(
        samples, sample_features(samples, load_kernel_ir()), num_draws=options.draws, jobs=options.jobs
    )
    found = {
        "command": command_line("python benchmarks/coarsening_chance.py"),
        **environment(),
        "num_draws": options.draws,
    }
    for name in ("mean_speedup", "geomean_speedup"):
        reached, chance = getattr(level, name), getattr(level, f"chance_{name}s")
        found[name] = {
            "with_the_right_features": reached,
            "p_value": getattr(level, f"p_{name}"),
            "quantile_95_of_draws": float(np.quantile(chance, 0.95)),
        }
    text = json.dumps(found, indent=1)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
