"""Value of batches: by words or by samples, and how the learning rate follows their size.

    python benchmarks/batches.py [FOLDER] [--programs CACHE] [--classes 32] [--per-class 25] [--factors 4] [-o FILE]

The classifier's network is trained by one process on some of POJ-104's programs and asked about its validation
programs. A batch of w times the size is what w ranks make together; its learning rate follows the rules of
`ncc.learning.training.config.LR_SCALINGS`. Times are the processor's, so that a busy machine changes them little.
"""

import argparse
import itertools
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from ncc.learning.encoder.batches import encode_programs
from ncc.learning.encoder.config import program_encoder
from ncc.learning.training.config import TrainingStatistics
from ncc.system.files.text import command_line
from ncc.tasks.classification.config import NetworkTraining
from ncc.tasks.classification.network import fit_network, program_data
from ncc_lab.environment import environment
from ncc_lab.scaling.programs import Programs, ProgramSource


def training_of(cut: str, factor: int, rule: str, options: argparse.Namespace) -> NetworkTraining:
    """The recipe, with the batch size and learning rate of `factor` ranks."""
    recipe = NetworkTraining().loop
    loop = replace(recipe, epochs=options.epochs, batch_size=options.batch_size, lr_scaling=rule)
    return NetworkTraining(
        encoder=program_encoder(hidden=options.hidden), min_steps=1, batch_by=cut, loop=loop.for_ranks(factor)
    )


def padding(programs: Programs, rows: np.ndarray, training: NetworkTraining) -> float:
    """Places behind sequences' ends, as a share of the words read, in one epoch's batches."""
    table = next(iter(programs.samples.variants.values()))
    data = program_data(
        [encode_programs(table, programs.embedding, 0)], programs.samples.label, rows, training.batch_by
    )
    batches = data.batches(training.loop.batch_size, np.random.default_rng(0))
    shapes = [data.batch(batch)[0] for batch in batches]
    return sum(one.words.numel() for one in shapes) / sum(int(one.lengths.sum()) for one in shapes) - 1


def measure(
    programs: Programs, rows: np.ndarray, valid: np.ndarray, training: NetworkTraining, seed: int
) -> dict[str, float]:
    statistics = TrainingStatistics()
    began = time.process_time()
    network = fit_network(
        programs.samples, rows, programs.embedding, training, np.random.default_rng(seed), statistics=statistics
    )
    seconds = time.process_time() - began
    scores = np.mean([network.scores(table.rows(valid)) for table in programs.samples.variants.values()], axis=0)
    right = scores.argmax(axis=1) == programs.samples.label[valid]
    return {"accuracy": float(right.mean()), "processor_s": seconds, "steps": statistics.steps}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--programs", type=Path, help="cache of compiled programs")
    parser.add_argument("--classes", type=int, default=32, help="the first ones alone")
    parser.add_argument("--per-class", type=int, default=25)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--factors", nargs="*", type=int, default=[4], help="batches of so many ranks")
    parser.add_argument("--seeds", nargs="*", type=int, default=[204, 205, 206])
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    programs = ProgramSource.find(options.folder, cache=options.programs).load()
    rows, valid = (
        some[programs.samples.label[some] < options.classes]
        for some in (programs.training_rows(options.per_class), programs.split.valid)
    )
    asked: list[tuple[str, int, str]] = [("samples", 1, "none"), ("tokens", 1, "none")]
    asked += [("tokens", *one) for one in itertools.product(options.factors, ("none", "sqrt", "linear"))]
    every = {
        cut: padding(programs, programs.split.train, training_of(cut, 1, "none", options))
        for cut in ("samples", "tokens")
    }
    settings = {key: getattr(options, key) for key in ("classes", "per_class", "hidden", "epochs")}
    settings |= {"num_training": len(rows), "num_validation": len(valid), "padding_of_all": every}
    print(json.dumps(settings), flush=True)
    found: list[dict] = []
    for seed, (cut, factor, rule) in itertools.product(options.seeds, asked):
        training = training_of(cut, factor, rule, options)
        loop = training.loop
        about = {"cut": cut, "batch_size": loop.batch_size, "rule": rule, "learning_rate": loop.learning_rate}
        figures = measure(programs, rows, valid, training, seed)
        found.append({**about, "seed": seed, "padding": padding(programs, rows, training), **figures})
        print(json.dumps(found[-1]), flush=True)
    if options.output:
        about = {"command": command_line("python benchmarks/batches.py"), **environment()}
        options.output.write_text(json.dumps(about | settings | {"runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
