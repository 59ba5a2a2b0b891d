"""Commands that make: corpora, embeddings and heads."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.output import (
    DataFolder,
    EmbeddingFolder,
    OutputFolder,
    Seed,
    check_folder,
    fail,
    say,
)
from ncc.errors import NccError
from ncc.runtime.provenance import command_line
from ncc.runtime.ranks import process_group, rank_and_world

__all__ = ["register"]

corpus = typer.Typer(no_args_is_help=True, help="Build corpora of co-occurrence counts.", rich_markup_mode=None)
training = typer.Typer(no_args_is_help=True, help="Train embeddings and heads.", rich_markup_mode=None)


@corpus.command("build")
def corpus_build(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE|FOLDER", help="Recipe in TOML, or a folder of code.")],
    output: OutputFolder,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; default one a core.")] = None,
    ir: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep the compiled IR here, and use what is here already.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to work on instead; it must see the files.")
    ] = None,
) -> None:
    """Compile, read and count every file of a recipe; start again to go on after a stop."""
    from ncc.corpus import build_corpus, load_recipe

    for folder in filter(None, (output, ir)):
        check_folder(folder)
    try:
        with _cluster(scheduler) if scheduler else nullcontext() as executor:
            report = build_corpus(
                load_recipe(recipe),
                output,
                jobs=jobs,
                executor=executor,
                ir_folder=ir,
                progress=lambda done, total: say(f"{done} of {total} batches"),
            )
    except NccError as error:
        fail(str(error))
    print(report.to_text())


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    """The workers of a Dask cluster as an executor."""
    try:
        from distributed import Client
    except ImportError as error:
        raise NccError("--scheduler needs dask.distributed: pip install 'ncc[cluster]'") from error
    try:
        client = Client(address, timeout="15s")
    except (OSError, ValueError) as error:
        raise NccError(f"no Dask scheduler answers at {address}: {error}") from error
    with client, client.get_executor(pure=False) as executor:
        yield executor


@training.command("embedding")
def train_embedding(
    corpora: Annotated[list[Path], typer.Argument(metavar="CORPUS...", help="Folders made by 'ncc corpus build'.")],
    output: OutputFolder,
    width: Annotated[int, typer.Option(help="Context size in hops, of those that the corpora were counted for.")] = 2,
    min_count: Annotated[int, typer.Option(help="Times that a statement must be seen to be a word.")] = 10,
    engine: Annotated[
        str, typer.Option(help="exact, or gensim: Word2Vec on pairs drawn from the same counts.")
    ] = "exact",
    dim: Annotated[int, typer.Option(help="Number of dimensions.")] = 200,
    epochs: Annotated[int, typer.Option(help="Passes over the counts, or over gensim's pairs.")] = 20,
    steps: Annotated[int, typer.Option(help="Steps an epoch, each with its share of the centre words.")] = 8,
    learning_rate: Annotated[float, typer.Option(help="Of Adam.")] = 0.02,
    subsample: Annotated[float, typer.Option(help="Share of pairs above which a word is thinned; 0: off.")] = 1e-3,
    share_parts: Annotated[
        bool, typer.Option("--share-parts/--no-share-parts", help="Statements share vectors of their parts.")
    ] = True,
    own_decay: Annotated[float, typer.Option(help="Decay of statements' own vectors, where they share parts.")] = 2.0,
    num_pairs: Annotated[int, typer.Option(help="Pairs that gensim streams an epoch.")] = 20_000_000,
    seed: Seed = 204,
    threads: Annotated[int, typer.Option(help="Threads of the matrix products.")] = 1,
    device: Annotated[str, typer.Option(help="cpu or cuda; under torchrun each rank takes a GPU of its own.")] = "cpu",
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write curves for TensorBoard here.")
    ] = None,
) -> None:
    """Train statement vectors on the counts of corpora; start again to go on after a stop.

    Under torchrun the ranks share the work: torchrun --nproc-per-node 2 -m ncc train embedding …
    """
    import torch

    from ncc.embedding import SkipGramConfig, fit_embedding, load_abstraction, load_corpora, save_embedding
    from ncc.embedding.gensim_engine import GensimConfig
    from ncc.study.embedding import evaluate_embedding

    check_folder(output)
    torch.set_num_threads(threads)
    config: SkipGramConfig | GensimConfig
    try:
        if engine == "gensim":
            config = GensimConfig(
                dim=dim, epochs=epochs, subsample=subsample, num_pairs=num_pairs, threads=threads, seed=seed
            )
        elif engine == "exact":
            config = SkipGramConfig(
                dim=dim,
                epochs=epochs,
                steps_per_epoch=steps,
                learning_rate=learning_rate,
                subsample=subsample,
                share_parts=share_parts,
                own_decay=own_decay,
                seed=seed,
            )
        else:
            fail(f"--engine is {engine!r}; expected exact or gensim", code=2)
        with process_group(device) as own_device, _curves(tensorboard) as report:
            rank, world = rank_and_world()
            first = rank == 0
            if world > 1 and engine == "gensim":
                fail("--engine gensim trains in one process; leave torchrun out", code=2)
            embedding = fit_embedding(
                load_corpora(corpora, width),
                min_count=min_count,
                config=config,
                abstraction=load_abstraction(corpora),
                device=own_device,
                checkpoint=output / "checkpoint.safetensors" if engine == "exact" else None,
                about={"command": command_line(), "corpora": [folder.name for folder in corpora]},
                progress=report if first else None,
            )
            if first:
                embedding.about["scores"] = evaluate_embedding(embedding).to_card()
                save_embedding(embedding, output)
                (output / "checkpoint.safetensors").unlink(missing_ok=True)
                print(json.dumps(embedding.about, indent=1))
    except (NccError, ValueError) as error:
        fail(str(error))


@contextmanager
def _curves(folder: Path | None) -> Iterator[Callable[[int, float], None]]:
    """Reports epochs and losses to stderr, and to TensorBoard where a folder is given."""
    writer = None
    if folder and rank_and_world()[0] == 0:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise NccError("--tensorboard needs TensorBoard: pip install tensorboard") from error
        writer = SummaryWriter(str(folder))

    def report(epoch: int, loss: float) -> None:
        say(f"epoch {epoch}: {loss:.4f}")
        if writer:
            writer.add_scalar("loss", loss, epoch)

    try:
        yield report
    finally:
        if writer:
            writer.close()


@training.command("devmap")
def train_devmap(
    output: OutputFolder,
    platform: Annotated[str, typer.Option(help="amd or nvidia.")] = "nvidia",
    embedding: EmbeddingFolder = None,
    seed: Seed = 204,
    data: DataFolder = None,
) -> None:
    """Fit a device head to the CGO'17 tables, measured on kernels and programs held out."""
    from ncc.devices.files import save_mapper_head
    from ncc.embedding import load_embedding
    from ncc.study.devices.shipping import train_device_head

    check_folder(output)
    try:
        head = train_device_head(platform, load_embedding(embedding), folder=data, seed=seed, progress=say)  # type: ignore[arg-type]
        head.about["command"] = command_line()
        save_mapper_head(head, output)
    except NccError as error:
        fail(str(error))
    print(json.dumps(head.about, indent=1))


@training.command("coarsening")
def train_coarsening(output: OutputFolder, data: DataFolder = None) -> None:
    """Fit the head of thread coarsening to the PACT'14 table, measured on kernels held out."""
    from ncc.coarsening.head import save_coarsening_head
    from ncc.study.coarsening.shipping import train_coarsening_head

    check_folder(output)
    try:
        head = train_coarsening_head(data)
        head.about["command"] = command_line()
        save_coarsening_head(head, output)
    except NccError as error:
        fail(str(error))
    print(json.dumps(head.about, indent=1))


def register(app: typer.Typer) -> None:
    """Adds the groups of commands to the application."""
    app.add_typer(corpus, name="corpus")
    app.add_typer(training, name="train")
