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
app.command("embed")(may_require_confinement(embed))
app.command("graph")(may_require_confinement(graph))
app.command("predict-device")(may_require_confinement(predict_device))
app.command("predict-coarsening")(may_require_confinement(predict_coarsening))
app.command("predict-gpu")(may_require_confinement(predict_gpu))
app.command("profile")(may_require_confinement(profile))
app.command("classify")(may_require_confinement(classify))
app.command("devices")(devices)
app.command("measure")(measure)
app.command("index")(may_require_confinement(index))
app.command("search")(may_require_confinement(search))
app.command("calibrate")(calibrate)

corpus = _group("Build corpora of co-occurrence counts.")
corpus.command("build")(may_require_confinement(corpus_build))

train = _group("Train embeddings and heads.")
train.command("embedding")(train_embedding)
train.command("encoder")(may_require_confinement(train_encoder))
train.command("calibration")(may_require_confinement(train_calibration))
train.command("devmap")(may_require_confinement(train_devmap))
train.command("coarsening")(may_require_confinement(train_coarsening))
train.command("gpu")(may_require_confinement(train_gpu))
train.command("classify")(may_require_confinement(train_classify))

evaluate = _group("Measure methods beside their controls.")
evaluate.command("embedding")(evaluate_embedding)
evaluate.command("coverage")(may_require_confinement(evaluate_coverage))
evaluate.command("devmap")(may_require_confinement(evaluate_devmap))
evaluate.command("times")(may_require_confinement(evaluate_times))
evaluate.command("gpu")(may_require_confinement(evaluate_gpu))
evaluate.command("coarsening")(may_require_confinement(evaluate_coarsening))
evaluate.command("classify")(may_require_confinement(evaluate_classify))
evaluate.command("retrieval")(may_require_confinement(evaluate_retrieval))
evaluate.command("functions")(may_require_confinement(evaluate_functions))

bench = _group("Time what ncc does.")
bench.command("scaling")(may_require_confinement(bench_scaling))

data = _group("List, fetch and verify datasets.")
data.command("list")(data_list)
data.command("fetch")(data_fetch)
data.command("verify")(data_verify)

for name, group in (("corpus", corpus), ("train", train), ("evaluate", evaluate), ("bench", bench), ("data", data)):
    app.add_typer(group, name=name)
    group.callback()(lambda: None)  # which keeps the name of a group's only command
app.command("info")(info)


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
