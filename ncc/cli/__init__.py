"""The ``ncc`` command: each command has a file, which parses, calls one function of `ncc.api` and prints.

Data goes to stdout, messages and progress to stderr. Exit codes: 0 fine, 1 some input failed, 2 wrong usage.
"""

import gc
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

import ncc
from ncc.cli.calibrate import calibrate
from ncc.cli.classify import classify
from ncc.cli.command import NccCommand, ResumableCommand
from ncc.cli.corpus import corpus_build
from ncc.cli.data import data_fetch, data_list, data_verify
from ncc.cli.devices import devices
from ncc.cli.embed import embed
from ncc.cli.errors import NccGroup, command_group, told_defects
from ncc.cli.graph import graph
from ncc.cli.index import index
from ncc.cli.info import info
from ncc.cli.measure import measure
from ncc.cli.options import may_require_confinement
from ncc.cli.output import fail
from ncc.cli.predict_coarsening import predict_coarsening
from ncc.cli.predict_device import predict_device
from ncc.cli.predict_gpu import predict_gpu
from ncc.cli.profile import profile
from ncc.cli.search import search
from ncc.cli.streams import standard_streams
from ncc.cli.train_classify import train_classify
from ncc.cli.train_coarsening import train_coarsening
from ncc.cli.train_devmap import train_devmap
from ncc.cli.train_embedding import train_embedding
from ncc.cli.train_encoder import train_encoder
from ncc.cli.train_gpu import train_gpu

__all__ = ["app", "main"]


class _TopGroup(NccGroup):
    """All verbs, those of other distributions with an entry point in ``ncc.verbs`` among them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all verbs that are installed."""
        return [*super().list_commands(ctx), *sorted(entry_points(group="ncc.verbs").names)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The verb of a name, loaded if another distribution has it."""
        command = super().get_command(ctx, cmd_name)
        if command is None:
            for entry in entry_points(group="ncc.verbs", name=cmd_name):
                return typer.main.get_command(entry.load())
            if cmd_name in _LAB:
                fail(f"ncc {cmd_name} is part of ncc-lab; in a checkout of ncc: pip install -e lab", code=2)
        return command


app = command_group(
    "Neural code comprehension for LLVM IR: vectors, graphs and performance predictions from code.", _TopGroup
)
_LAB = ("bench", "evaluate")
_GROUPS = {
    "corpus": command_group("Build corpora of co-occurrence counts."),
    "train": command_group("Train embeddings and heads."),
    "data": command_group("List, fetch and verify datasets."),
}
_COMMANDS = (
    *(embed, graph, predict_device, predict_coarsening, predict_gpu, profile, classify),
    *(devices, measure, index, search, calibrate, corpus_build),
    *(train_embedding, train_encoder, train_devmap, train_coarsening, train_gpu, train_classify),
    *(data_list, data_fetch, data_verify, info),
)
_COMPILE_NOTHING = (*(devices, measure, calibrate, train_embedding, data_list, data_fetch, data_verify, info),)
_GO_ON = (*(measure, index, calibrate, corpus_build, train_classify),)

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
