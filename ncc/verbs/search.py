"""Searching code: ``ncc index`` and ``ncc search``."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ncc.errors import InputError, check_positive
from ncc.ir.frontend.options import CompileOptions
from ncc.system.files.writing import check_folder, check_writable, write_output
from ncc.verbs.types import Answer, Count, OutputFile, PathLike, Words, command, verb

if TYPE_CHECKING:
    from ncc.learning.embedding.embedding import AnyEmbedding
    from ncc.learning.encoder.pooling import AnyEncoder, Pooler
    from ncc.tasks.search.duplicates import Duplicates
    from ncc.tasks.search.index import Index, SearchResult


def _report(made: "Index") -> Answer:
    assert made.report is not None
    return Answer(
        text=[made.summary()],
        json={**vars(made.report), "pooling": made.pooling, "num_bytes": made.num_bytes},
        failures=list(made.report.failures.values()),
    )


@verb(show=_report, has_json=True, resumes=True, is_brief=True)
def index(
    inputs: Sequence[PathLike] | PathLike,
    output: PathLike,
    *,
    options: CompileOptions | None = None,
    pooling: "str | Pooler | None" = None,
    embedding: "AnyEmbedding | None" = None,
    encoder: "AnyEncoder | None" = None,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> "Index":
    """Index every function in a code base, or update an index. Run again to resume.

    Only changed files are read again, and removed files are dropped. Files from other folders stay.

    Args:
        inputs: Folders, files or globs.
        output: Index folder.
        options: Compiler options; line numbers are always kept.
        pooling: How to compute function vectors: "encoder" or "mean", as in `ncc.embed`.
        embedding: Statement embedding, or its folder; default: the shipped one. An object is stored in the index.

    Returns:
        The open index; its ``report`` lists what changed.

    Raises:
        InputError: There is no input file, no file has a function, or the index has vectors from another model.
        AssetError: The existing index is damaged.
        OutputError: The folder can't be written, or another process is writing to it.
        NccError: Workers can't be started.
    """
    from ncc.learning.encoder.pooling import load_pooler
    from ncc.system.workers.pool import Pool
    from ncc.tasks.search.build import build_index
    from ncc.tasks.search.index import load_index

    inputs, folder = [inputs] if isinstance(inputs, str | os.PathLike) else inputs, Path(output).absolute()
    check_folder(folder)
    options = options or CompileOptions()
    if options.commands:
        options = replace(options, commands=os.path.abspath(options.commands))  # noqa: PTH100
    check_positive(jobs=jobs)
    pooler = load_pooler(pooling, embedding, encoder)
    report = build_index(inputs, folder, options, pooler, (embedding, encoder), Pool(jobs), progress)
    return replace(load_index(output), report=report)


@command(has_json=True)
def search_command(
    index: Annotated[Path, Words("INDEX")],
    query: Annotated[str, Words("[QUERY]")] | None = None,
    *,
    function: str | None = None,
    top: int = 10,
    duplicates: bool = False,
    threshold: Annotated[float, Words("T")] | None = None,
    min_statements: Count = 10,
    output: OutputFile | None = None,
    source: Annotated[bool, Words()] | None = None,
    root: Annotated[Path, Words("FOLDER")] | None = None,
    options: CompileOptions | None = None,
) -> Answer:
    """Find functions similar to those of a file, or groups of similar functions.

    Example: ncc search code.index query.c --function parse --top 5

    Example: ncc search code.index --duplicates -o similar.html

    Args:
        index: Index folder, made by ncc index.
        query: File to search for, or - for IR on standard input.
        function: Function of QUERY to search for; default: all.
        top: Number of functions to find per query function, or of groups to show.
        duplicates: Find groups of similar functions instead.
        threshold: Minimum similarity within a group; default: the similarity from which 90% of pairs are copies.
        min_statements: Minimum number of statements of a function in a group.
        output: Write an HTML page with the source.
        source: Show source side by side; default: only on a terminal.
        root: Show sources below this folder even if they changed; default: only sources as they were indexed.
    """
    from ncc.tasks.search.index import load_index
    from ncc.tasks.search.pages import pairs_of, side_by_side, similar_page

    if (query is None) != duplicates:
        raise InputError("expected either a file to search for or --duplicates")
    check_writable(output, extensions=(".html",))
    opened = load_index(index)
    answers: Sequence[Duplicates | SearchResult]
    if query is None:
        groups = opened.duplicates(threshold, min_statements=min_statements, max_groups=top)
        answers, rows = [groups], groups.to_dicts()
        title = f"Similar functions in {index}"
    else:
        results = opened.search(query, function=function, top=top, options=options)
        answers, rows = results, [result.to_dict() for result in results]
        title = f"Functions in {index} similar to those of {query}"
    below = None if root is None else str(root.resolve())
    if output:
        about = f"{len(opened):,} functions, {opened.pooling} vectors."
        write_output(output, similar_page(answers, title=title, about=about, root=below))
    shows_source = sys.stdout.isatty() if source is None else source

    def parts() -> Iterator[Any]:
        for answer in answers:
            yield answer.summary()
            if shows_source:
                yield from (side_by_side(*pair, below) for _, pairs in pairs_of(answer) for pair in pairs)

    return Answer(text=parts(), json=rows)
