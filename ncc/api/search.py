"""``index`` and what calibrates it, as functions."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from ncc.embedding import AnyEmbedding
from ncc.encoder.encoders import AnyEncoder
from ncc.encoder.pooling import Pooler, load_pooler
from ncc.frontend import CompileOptions
from ncc.runtime.cluster import cluster_executor
from ncc.runtime.writable import check_folder, check_writable
from ncc.search import Calibration, Index, build_index, load_index

Path_ = str | os.PathLike[str]


def index(
    inputs: Path_ | Sequence[Path_],
    output: Path_,
    *,
    options: CompileOptions | None = None,
    pooling: str | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
    jobs: int = 1,
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
) -> Index:
    """Indexes every function of a code base, or brings an index up to date; called again, goes on after a stop.

    Only files that changed are read again, and those that are gone go. Files of folders that are not named stay.

    Args:
        inputs: Folders, files and globs, or one of them.
        output: Folder of the index.
        options: How source is compiled; it is always compiled with lines.
        pooling: How functions get vectors; as for `ncc.embed`.
        embedding: As for `ncc.embed`; what is given as an object is kept in the index's folder.
        encoder: The same.
        jobs: Worker processes, where a file that kills, hangs or fills one costs itself.
        scheduler: Address of a Dask scheduler to work on instead; its workers must see the files.
        executor: Any other executor to work on instead, under the same condition.
        progress: Called with a line of text after each batch of files.

    Returns:
        The index, open; its ``report`` says what became of the files.

    Raises:
        InputError: No input leads to a file, no file has a function, or the index has vectors of another kind.
        AssetError: The index that is there is damaged.
        OutputError: The folder can't be written, or something else is being written there.
        NccError: Workers can't be started, or no scheduler answers.
    """
    inputs = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    check_folder(Path(output))
    with cluster_executor(scheduler, executor) as workers:
        report = build_index(
            inputs,
            output,
            options=options,
            pooling=pooling,
            embedding=embedding,
            encoder=encoder,
            jobs=jobs,
            executor=workers,
            progress=(lambda done, total: progress(f"{done} of {total} batches")) if progress else None,
        )
    return replace(load_index(output), report=report)


def train_calibration(
    inputs: Path_ | Sequence[Path_],
    output: Path_ | None = None,
    *,
    levels: Sequence[str] = ("1", "2", "s"),
    options: CompileOptions | None = None,
    pooling: str | Pooler | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
    min_statements: int = 10,
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Calibration:
    """Measures how sure a similarity is, on pairs of the same function at several levels and of different ones.

    Args:
        inputs: Folders and files of source that nothing was trained on.
        output: File that gets the calibration, as JSON.
        levels: Of optimisation, two or more.
        options: How source is compiled, but for the level.
        pooling: How functions get vectors; as for `ncc.embed`.
        embedding: As for `ncc.embed`.
        encoder: As for `ncc.embed`.
        min_statements: Functions that are smaller at a level are left out.
        about: What else its file should say, such as the command.
        progress: Called with a line of text after each file.

    Returns:
        The calibration, for `ncc.load_index`.

    Raises:
        InputError: There are fewer than two levels, or than two functions at all of them.
        OutputError: The file can't be written.
    """
    from ncc.search.calibrating import calibrate_similarity
    from ncc.search.calibration import save_calibration

    inputs = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    path = None if output is None else Path(output)
    check_writable(path)
    made = calibrate_similarity(
        inputs,
        levels=levels,
        options=options,
        pooling=load_pooler(pooling, embedding, encoder),
        min_statements=min_statements,
        progress=progress,
    )
    made = replace(made, about=made.about | (about or {}))
    if path:
        save_calibration(made, path)
    return made
