"""What ``ncc train embedding`` does, which needs several packages."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ncc.errors import InputError, NccError, check_positive
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, load_embedding, save_embedding
from ncc.learning.training.ranks import process_group, rank_and_world, torch_threads, training_lock
from ncc.system.files.writing import check_folder

if TYPE_CHECKING:
    from ncc.learning.embedding.counts import CorpusCounts

Progress = Callable[[str], None]


def load_counts(corpus: str | Path, *, width: int = 2) -> "CorpusCounts":
    """Reads the counts of a corpus: its distinct statements, how often each was seen, and the pairs within a context.

    Args:
        corpus: Folder that `build_corpus` made.
        width: Context size in hops, of those that the corpus was counted for.

    Raises:
        AssetError: There are none for that width, or they are damaged.
    """
    from ncc.learning.embedding.counts import load_counts, width_folder

    return load_counts(width_folder(corpus, width))


def train_embedding(
    corpora: Sequence[str | Path],
    output: str | Path | None = None,
    *,
    width: int = 2,
    min_count: int = 10,
    engine: Literal["exact", "gensim"] = "exact",
    dim: int = 200,
    epochs: int = 20,
    steps: int = 8,
    learning_rate: float = 0.02,
    subsample: float = 1e-3,
    share_parts: bool = True,
    own_decay: float = 2.0,
    num_pairs: int = 20_000_000,
    seed: int = 204,
    threads: int = 1,
    device: str = "cpu",
    tensorboard: str | Path | None = None,
    extend: AnyEmbedding | None = None,
    about: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Embedding:
    """Trains statement vectors on the counts of corpora. Under torchrun the ranks share the work.

    Args:
        corpora: Folders that `build_corpus` made.
        output: Folder that gets the embedding.
        width: Context size in hops, of those that the corpora were counted for.
        min_count: Times that a statement must be seen to be a word of its own.
        engine: "exact" (skip-gram on the counts), or "gensim" (Word2Vec on pairs drawn from them).
        dim: Number of dimensions.
        epochs: Passes over the counts, or over gensim's pairs.
        steps: Steps of an epoch, each with its share of the centre words.
        learning_rate: Of Adam.
        subsample: Share of pairs above which a word is thinned; 0 thins none.
        share_parts: Whether statements share vectors of their parts.
        own_decay: Decay of statements' own vectors, where they share parts.
        num_pairs: Pairs that gensim streams in an epoch.
        seed: Of everything that is drawn.
        threads: Threads of the matrix products.
        device: "cpu" or "cuda"; under torchrun each rank takes a GPU of its own.
        tensorboard: Folder that gets curves for TensorBoard.
        extend: An embedding, its folder, or "shipped": nothing is trained, and it gets vectors for the words of the
            corpora that it lacks, while its own stay; see `extend_embedding`. Of the other
            arguments ``width`` and ``min_count`` alone matter.
        about: What else the card is to say, such as the command.
        progress: Called with a line of text after each epoch, on the first rank.

    Returns:
        The embedding, on all ranks.

    Raises:
        InputError: A value is out of its range, or the corpora can't be used together.
        AssetError: A folder holds no corpus, or a damaged one.
        OutputError: A folder can't be written.

    Reference: Ben-Nun et al. 2018, section 4.
    """
    from ncc.learning.embedding.config import SkipGramConfig
    from ncc.learning.embedding.extend import extend_embedding
    from ncc.learning.embedding.gensim import GensimConfig
    from ncc.learning.embedding.train import fit_embedding, load_abstraction, load_corpora

    folder = None if output is None else Path(output)
    check_positive(threads=threads)
    check_folder(folder)
    about = {**(about or {}), "corpora": [Path(corpus).name for corpus in corpora]}
    if extend is not None:
        extended = extend_embedding(
            load_embedding(None if extend == "shipped" else extend),
            load_corpora(corpora, width),
            min_count=min_count,
            abstraction=load_abstraction(corpora),
            about=about,
        )
        if folder:
            save_embedding(extended, folder)
        return extended
    config: SkipGramConfig | GensimConfig
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
        raise InputError(f"engine is {engine!r}; expected exact or gensim")
    with (
        process_group(device) as own_device,
        training_lock(folder),
        torch_threads(threads),
        _curves(tensorboard, progress) as report,
    ):
        rank, world = rank_and_world()
        if world > 1 and engine == "gensim":
            raise InputError("gensim trains in one process; leave torchrun out")
        embedding = fit_embedding(
            load_corpora(corpora, width),
            min_count=min_count,
            config=config,
            abstraction=load_abstraction(corpora),
            device=own_device,
            about=about,
            progress=None if rank else report,
        )
        if rank == 0 and folder:
            save_embedding(embedding, folder)
    return embedding


@contextmanager
def _curves(folder: str | Path | None, progress: Progress | None) -> Iterator[Callable[[int, float], None]]:
    """Tells epochs and losses, also to TensorBoard where a folder is given."""
    writer = None
    if folder and rank_and_world()[0] == 0:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise NccError("--tensorboard needs TensorBoard: pip install tensorboard") from error
        writer = SummaryWriter(str(folder))

    def report(epoch: int, loss: float) -> None:
        if progress:
            progress(f"epoch {epoch}: {loss:.4f}")
        if writer:
            writer.add_scalar("loss", loss, epoch)

    try:
        yield report
    finally:
        if writer:
            writer.close()
