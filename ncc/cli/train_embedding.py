"""``ncc train embedding``: statement vectors from the counts of corpora."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ncc.cli.options import OutputFolder, Seed, TorchDevice, arguments_of
from ncc.cli.output import print_card, say
from ncc.system.files.provenance import command_line


def train_embedding(
    corpora: Annotated[list[Path], typer.Argument(metavar="CORPUS...", help="Folders made by 'ncc corpus build'.")],
    output: OutputFolder,
    context_width: Annotated[
        int, typer.Option(help="Context size in hops, one that the corpora were counted for.")
    ] = 2,
    min_count: Annotated[int, typer.Option(help="How often a statement must occur to become a word.")] = 10,
    engine: Annotated[
        Literal["exact", "gensim"],
        typer.Option(help="exact, or gensim: Word2Vec on pairs sampled from the same counts."),
    ] = "exact",
    dim: Annotated[int, typer.Option(help="Number of dimensions.")] = 200,
    epochs: Annotated[int, typer.Option(help="Passes over the counts, or over gensim's pairs.")] = 20,
    steps_per_epoch: Annotated[int, typer.Option(help="Steps per epoch, each with other center words.")] = 8,
    learning_rate: Annotated[float, typer.Option(help="Learning rate of Adam.")] = 0.02,
    subsample: Annotated[float, typer.Option(help="Share of pairs above which a word is subsampled; 0: off.")] = 1e-3,
    subwords: Annotated[
        bool, typer.Option("--subwords/--no-subwords", help="Statements share vectors of their parts.")
    ] = True,
    word_decay: Annotated[float, typer.Option(help="Weight decay of whole-word vectors, with subwords.")] = 2.0,
    num_pairs: Annotated[int, typer.Option(help="Pairs that gensim streams per epoch.")] = 20_000_000,
    seed: Seed = 204,
    threads: Annotated[int, typer.Option(help="Threads for matrix products.")] = 1,
    device: TorchDevice = "cpu",
    extend: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER|shipped",
            help="Instead of training, give this embedding vectors for the words that it lacks.",
        ),
    ] = None,
) -> None:
    """Train statement vectors on the counts of corpora.

    Under torchrun the ranks share the work: torchrun --nproc-per-node 2 -m ncc train embedding …
    """
    given = arguments_of(locals())
    from ncc import api
    from ncc.learning.embedding.config import EmbeddingConfig
    from ncc.learning.training.ranks import is_first_rank

    config = EmbeddingConfig(**{name: given.pop(name) for name in EmbeddingConfig.__dataclass_fields__})
    embedding = api.train_embedding(**given, config=config, about={"command": command_line()}, progress=say)
    if is_first_rank():
        print_card(embedding.about["extensions"][-1] if extend else embedding.about)
