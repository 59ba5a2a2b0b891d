"""Commands that make and measure: corpus, train, evaluate, data."""

import importlib.metadata
import json
import os
import platform as host
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.output import Json, fail
from ncc.errors import NccError

__all__ = ["register"]

OutputFolder = Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="Folder for the result.")]
DataFolder = Annotated[
    str | None, typer.Option("--data", metavar="FOLDER", help="Datasets; default NCC_DATA, then the cache.")
]
Seed = Annotated[int, typer.Option(help="Seed of everything that is drawn.")]

corpus = typer.Typer(no_args_is_help=True, help="Build corpora of co-occurrence counts.", rich_markup_mode=None)
training = typer.Typer(no_args_is_help=True, help="Train embeddings and heads.", rich_markup_mode=None)
evaluation = typer.Typer(no_args_is_help=True, help="Measure methods beside their controls.", rich_markup_mode=None)
datasets = typer.Typer(no_args_is_help=True, help="List, fetch and verify datasets.", rich_markup_mode=None)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _command_line() -> str:
    """The command as it was typed, without folders' parents: a card must not depend on where it was made."""
    return shlex.join(["ncc", *(Path(word).name if "/" in word else word for word in sys.argv[1:])])


def _environment() -> dict[str, Any]:
    """What a figure was measured on and with."""
    packages = ("ncc", "numpy", "scikit-learn", "torch", "llvmlite")
    return {
        "hardware": {"machine": host.machine(), "cores": os.cpu_count()},
        "versions": {"python": host.python_version()} | {name: importlib.metadata.version(name) for name in packages},
    }


@corpus.command("build")
def corpus_build(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE|FOLDER", help="Recipe in TOML, or a folder of code.")],
    output: OutputFolder,
    jobs: Annotated[int | None, typer.Option(help="Worker processes; default one a core.")] = None,
) -> None:
    """Compile, read and count every file of a recipe; start again to go on after a stop."""
    from ncc.corpus import build_corpus, load_recipe

    try:
        report = build_corpus(
            load_recipe(recipe), output, jobs=jobs, progress=lambda done, total: _say(f"{done} of {total} batches")
        )
    except NccError as error:
        fail(str(error))
    print(f"{'source':<16}{'files':>8}{'IR lines':>12}")
    for source, num_files in report.files.items():
        print(f"{source:<16}{num_files:>8}{report.lines[source]:>12}")
    counts = report.counts
    print(
        f"{counts.statements.sum()} statements, {len(counts.texts)} distinct; {counts.count.sum()} pairs within "
        f"{counts.width} hops, {len(counts.count)} distinct; {len(report.failures)} files failed: see report.json"
    )


@training.command("embedding")
def train_embedding(
    corpora: Annotated[list[Path], typer.Argument(metavar="CORPUS...", help="Folders made by 'ncc corpus build'.")],
    output: OutputFolder,
    min_count: Annotated[int, typer.Option(help="Times that a statement must be seen to be a word.")] = 20,
    dim: Annotated[int, typer.Option(help="Numbers a vector.")] = 200,
    steps: Annotated[int, typer.Option(help="Full passes over the counts.")] = 150,
    learning_rate: Annotated[float, typer.Option(help="Of Adam.")] = 0.02,
    subsample: Annotated[float, typer.Option(help="Share of statements above which a word is thinned; 0: off.")] = 1e-3,
    seed: Seed = 204,
    threads: Annotated[int, typer.Option(help="Threads of the matrix products.")] = 1,
    device: Annotated[str, typer.Option(help="A torch device, such as cpu or cuda.")] = "cpu",
) -> None:
    """Train statement vectors on the counts of corpora."""
    import torch

    from ncc.embedding import SkipGramConfig, fit_embedding, load_corpora, save_embedding

    torch.set_num_threads(threads)
    try:
        config = SkipGramConfig(dim=dim, steps=steps, learning_rate=learning_rate, subsample=subsample, seed=seed)
        embedding = fit_embedding(
            load_corpora(corpora),
            min_count=min_count,
            config=config,
            device=device,
            about={"command": _command_line(), "corpora": [folder.name for folder in corpora]},
            progress=lambda step, loss: _say(f"step {step} of {steps}: {loss:.4f}") if step % 10 == 0 else None,
        )
        save_embedding(embedding, output)
    except (NccError, ValueError) as error:
        fail(str(error))
    print(json.dumps(embedding.about, indent=1))


@training.command("devmap")
def train_devmap(
    output: OutputFolder,
    platform: Annotated[str, typer.Option(help="amd or nvidia.")] = "nvidia",
    embedding: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Embedding to build on; default the shipped one.")
    ] = None,
    members: Annotated[int, typer.Option(help="Heads of the ensemble.")] = 3,
    epochs: Annotated[int, typer.Option(help="Passes over the samples.")] = 15,
    hidden: Annotated[int, typer.Option(help="Units of each LSTM layer.")] = 64,
    seed: Seed = 204,
    data: DataFolder = None,
) -> None:
    """Train a device head on the CGO'17 tables, measured and calibrated on kernels held out."""
    import torch

    from ncc.embedding import load_embedding
    from ncc.heads import save_ratio_head
    from ncc.tasks.device_mapping.head import RatioTraining
    from ncc.tasks.device_mapping.shipping import train_device_head
    from ncc.training import TrainingConfig

    torch.set_num_threads(1)
    try:
        head = train_device_head(
            platform,  # type: ignore[arg-type]
            load_embedding(embedding),
            RatioTraining(members=members, hidden=hidden, loop=TrainingConfig(epochs=epochs, batch_size=16)),
            folder=data,
            seed=seed,
            progress=_say,
        )
        head.about["command"] = _command_line()
        save_ratio_head(head, output)
    except (NccError, ValueError) as error:
        fail(str(error))
    print(json.dumps(head.about, indent=1))


@evaluation.command("devmap")
def evaluate_devmap(
    protocol: Annotated[str, typer.Option(help="published, kernel, application, suite or all.")] = "all",
    platform: Annotated[str, typer.Option(help="amd, nvidia or all.")] = "all",
    lstm: Annotated[
        bool, typer.Option("--lstm/--no-lstm", help="Train the LSTM head as well (minutes a fold).")
    ] = False,
    trees: Annotated[int, typer.Option(help="Trees of the controls' forests.")] = 300,
    epochs: Annotated[int, typer.Option(help="Passes over the samples, for the LSTM head.")] = 15,
    seed: Seed = 204,
    data: DataFolder = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write the figures, as JSON.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure device mapping under every protocol, controls beside heads."""
    from ncc.storage import write_atomically
    from ncc.tasks.device_mapping.comparison import compare_devices

    try:
        scores = compare_devices(
            protocol, platform, with_lstm=lstm, num_trees=trees, epochs=epochs, seed=seed, folder=data, progress=_say
        )
        figures = {"command": _command_line(), **_environment(), **scores.to_dict()}
        if output:
            write_atomically(output, (json.dumps(figures, indent=1) + "\n").encode())
    except NccError as error:
        fail(str(error))
    if as_json:
        print(json.dumps(figures))
    else:
        print(scores.to_text())


@datasets.command("list")
def data_list() -> None:
    """Name the datasets, where they come from and whether they are here."""
    from ncc.data import dataset_names as names
    from ncc.data import describe, verify

    for name in names():
        card, state = describe(name), verify(name)
        print(f"{name:<12}{'here' if state.usable else 'missing':<10}{card.title}")


@datasets.command("fetch")
def data_fetch(name: str, data: DataFolder = None) -> None:
    """Bring a dataset into the data folder, or say where to get it."""
    from ncc.data import fetch

    try:
        for path in fetch(name, data):
            print(path)
    except NccError as error:
        fail(str(error))


@datasets.command("verify")
def data_verify(name: str, data: DataFolder = None) -> None:
    """Check a dataset's files against their checksums."""
    from ncc.data import verify

    try:
        state = verify(name, data)
    except NccError as error:
        fail(str(error))
    for status in state.files:
        print(f"{status.state.value:<26}{status.path}")
    if not state.usable:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Adds the groups of commands to the application."""
    app.add_typer(corpus, name="corpus")
    app.add_typer(training, name="train")
    app.add_typer(evaluation, name="evaluate")
    app.add_typer(datasets, name="data")
