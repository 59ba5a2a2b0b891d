"""The lab's verbs, which the command finds by entry points: ``ncc evaluate`` and ``ncc bench``."""

import typer

from ncc.cli.command import NccCommand, ResumableCommand
from ncc.cli.errors import command_group
from ncc.cli.options import may_require_confinement
from ncc_lab.cli.bench import bench_scaling
from ncc_lab.cli.evaluate_classify import evaluate_classify
from ncc_lab.cli.evaluate_coarsening import evaluate_coarsening
from ncc_lab.cli.evaluate_coverage import evaluate_coverage
from ncc_lab.cli.evaluate_devmap import evaluate_devmap
from ncc_lab.cli.evaluate_embedding import evaluate_embedding
from ncc_lab.cli.evaluate_functions import evaluate_functions
from ncc_lab.cli.evaluate_gpu import evaluate_gpu
from ncc_lab.cli.evaluate_retrieval import evaluate_retrieval
from ncc_lab.cli.evaluate_times import evaluate_times

evaluate: typer.Typer = command_group("Measure methods beside their controls.")
bench: typer.Typer = command_group("Time what ncc does.")

_RESUMABLE = (evaluate_devmap, evaluate_coarsening, evaluate_classify)

for command in (
    *(evaluate_embedding, evaluate_coverage, evaluate_devmap, evaluate_times, evaluate_gpu),
    *(evaluate_coarsening, evaluate_classify, evaluate_retrieval, evaluate_functions, bench_scaling),
):
    group, _, name = command.__name__.partition("_")
    place = evaluate if group == "evaluate" else bench
    compiles = command is not evaluate_embedding
    place.command(name, cls=ResumableCommand if command in _RESUMABLE else NccCommand)(
        may_require_confinement(command) if compiles else command
    )
bench.callback()(lambda: None)  # which keeps the name of a group's only command
