"""The ``ncc`` command: each command has a file, which parses, calls one function of `ncc.api` and prints.

Data goes to stdout, messages and progress to stderr. Exit codes: 0 fine, 1 some input failed, 2 wrong usage.
"""

import gc
from typing import Annotated

import typer

import ncc
from ncc.cli.bench import bench_scaling
from ncc.cli.calibrate import calibrate
from ncc.cli.classify import classify
from ncc.cli.command import NccCommand, ResumableCommand
from ncc.cli.corpus import corpus_build
from ncc.cli.data import data_fetch, data_list, data_verify
from ncc.cli.devices import devices
from ncc.cli.embed import embed
from ncc.cli.errors import NccGroup, told_defects
from ncc.cli.evaluate_classify import evaluate_classify
from ncc.cli.evaluate_coarsening import evaluate_coarsening
from ncc.cli.evaluate_coverage import evaluate_coverage
from ncc.cli.evaluate_devmap import evaluate_devmap
from ncc.cli.evaluate_embedding import evaluate_embedding
from ncc.cli.evaluate_functions import evaluate_functions
from ncc.cli.evaluate_gpu import evaluate_gpu
from ncc.cli.evaluate_retrieval import evaluate_retrieval
from ncc.cli.evaluate_times import evaluate_times
from ncc.cli.graph import graph
from ncc.cli.index import index
from ncc.cli.info import info
from ncc.cli.measure import measure
from ncc.cli.options import may_require_confinement
from ncc.cli.predict_coarsening import predict_coarsening
from ncc.cli.predict_device import predict_device
from ncc.cli.predict_gpu import predict_gpu
from ncc.cli.profile import profile
from ncc.cli.search import search
from ncc.cli.streams import standard_streams
from ncc.cli.train_calibration import train_calibration
from ncc.cli.train_classify import train_classify
from ncc.cli.train_coarsening import train_coarsening
from ncc.cli.train_devmap import train_devmap
from ncc.cli.train_embedding import train_embedding
from ncc.cli.train_encoder import train_encoder
from ncc.cli.train_gpu import train_gpu

__all__ = ["app", "main"]


def _group(about: str) -> typer.Typer:
    return typer.Typer(
        help=about,
        cls=NccGroup,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


app = _group("Neural code comprehension for LLVM IR: vectors, graphs and performance predictions from code.")
_GROUPS = {
    "corpus": _group("Build corpora of co-occurrence counts."),
    "train": _group("Train embeddings and heads."),
    "evaluate": _group("Measure methods beside their controls."),
    "bench": _group("Time what ncc does."),
    "data": _group("List, fetch and verify datasets."),
}
_COMMANDS = (
    *(embed, graph, predict_device, predict_coarsening, predict_gpu, profile, classify),
    *(devices, measure, index, search, calibrate, corpus_build),
    *(train_embedding, train_encoder, train_calibration, train_devmap, train_coarsening, train_gpu, train_classify),
    *(evaluate_embedding, evaluate_coverage, evaluate_devmap, evaluate_times, evaluate_gpu, evaluate_coarsening),
    *(evaluate_classify, evaluate_retrieval, evaluate_functions),
    *(bench_scaling, data_list, data_fetch, data_verify, info),
)
_COMPILE_NOTHING = (
    *(devices, measure, calibrate, train_embedding, evaluate_embedding, data_list, data_fetch, data_verify, info),
)
_GO_ON = (
    *(measure, index, calibrate, corpus_build, train_classify),
    *(evaluate_devmap, evaluate_coarsening, evaluate_classify),
)

for command in _COMMANDS:
    group, _, name = command.__name__.partition("_")
    place = _GROUPS.get(group, app)
    place.command(
        command.__name__.replace("_", "-") if place is app else name,
        cls=ResumableCommand if command in _GO_ON else NccCommand,
    )(command if command in _COMPILE_NOTHING else may_require_confinement(command))
for group, commands in _GROUPS.items():
    app.add_typer(commands, name=group)
    commands.callback()(lambda: None)  # which keeps the name of a group's only command


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"ncc {ncc.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Neural code comprehension for LLVM IR: vectors, graphs and performance predictions from code."""


def main() -> None:
    """Runs the command line."""
    try:
        with standard_streams(), told_defects():
            app()
    finally:
        gc.freeze()  # the interpreter's end would look through all that was imported for cycles: a sixth of ncc embed
