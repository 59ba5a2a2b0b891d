"""Searching code: ``ncc index`` and ``ncc search``."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ncc.errors import InputError
from ncc.verbs.types import (
    Answer,
    Command,
    Compiling,
    Count,
    EmbeddingLike,
    EncoderLike,
    Jobs,
    OutputFile,
    PathLike,
    PoolingLike,
    Progress,
    Words,
    command,
    defined_in,
)

if TYPE_CHECKING:
    from ncc.tasks.search.duplicates import Duplicates
    from ncc.tasks.search.index import Index, SearchResult

Places = Annotated[Sequence[PathLike] | PathLike, Words(metavar="FOLDER...", help="Folder, file or glob.")]
IndexFolder = Annotated[PathLike, Words(metavar="INDEX", option=("-o", "--output"))]


@defined_in("ncc.tasks.search.build")
def index(
    inputs: Places,
    output: IndexFolder,
    *,
    options: Compiling | None = None,
    pooling: PoolingLike | None = None,
    embedding: EmbeddingLike | None = None,
    encoder: EncoderLike | None = None,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> "Index":
    """Index every function of a code base, or update an index; called again, resume after a stop.

    Only files that changed are read again, and those that were removed are dropped. Files of other folders stay.

    Args:
        inputs: Folders, files and globs, or one of them.
        output: Folder of the index.
        options: How source is compiled; it is always compiled with lines.
        pooling: How functions get vectors: encoder, or mean of the statements' vectors; as for `ncc.embed`.
        embedding: Vectors of statements, or their folder; default the shipped ones. An object is kept in the index.
        encoder: Encoder for pooling by the encoder, or its folder; default the shipped one.
        jobs: Number of worker processes; a crash affects only its own file.
        progress: Called with a line of text after each batch of files.

    Returns:
        The index, open; its ``report`` says what became of the files.

    Raises:
        InputError: No input leads to a file, no file has a function, or the index has vectors of another kind.
        AssetError: The index that is there is damaged.
        OutputError: The folder can't be written, or something else is being written there.
        NccError: Workers can't be started.
    """


def _report(made: "Index") -> Answer:
    assert made.report is not None
    return Answer(
        text=[made.summary()],
        json={**vars(made.report), "pooling": made.pooling, "num_bytes": made.num_bytes},
        failures=[reason.partition("\n")[0] for reason in made.report.failures.values()],
    )


index_command = Command(run=index, show=_report, has_json=True, resumes=True, is_brief=True)


@command(has_json=True)
def search_command(  # noqa: D417 - shared options have a text of their own
    index: Annotated[Path, Words(metavar="INDEX")],
    query: Annotated[str, Words(metavar="[QUERY]")] | None = None,
    *,
    function: Annotated[str, Words(metavar="NAME")] | None = None,
    top: Annotated[int, Words(metavar="K", minimum=1)] = 10,
    duplicates: bool = False,
    threshold: Annotated[float, Words(metavar="T")] | None = None,
    calibration: Annotated[Path, Words(metavar="FILE.json")] | None = None,
    min_statements: Count = 10,
    output: OutputFile | None = None,
    source: bool | None = None,
    options: Compiling | None = None,
) -> Answer:
    """Find functions similar to those of a file, or groups of similar functions.

    ncc search code.index query.c --function parse --top 5

    ncc search code.index --duplicates -o similar.html

    Args:
        index: Folder that ncc index made.
        query: File of code, or - for IR.
        function: Function of QUERY to search for; default: all.
        top: How many functions to find for each, or groups to show.
        duplicates: Find groups of similar functions instead.
        threshold: Minimum similarity within a group; default: the similarity from which 90% of pairs are copies.
        calibration: Calibration file of the lab; default: the shipped one.
        min_statements: Leave functions with fewer statements out of groups.
        output: Write a page (.html) with the source.
        source: Show source side by side; default: only on a terminal.
    """
    from ncc.system.files.writing import check_writable, write_output
    from ncc.tasks.search.index import load_index
    from ncc.tasks.search.pages import similar_page

    if query is not None and duplicates:
        raise InputError("give a file to search for or --duplicates, not both")
    if query is None and not duplicates:
        raise InputError("give a file to search for, or --duplicates")
    if output and output.suffix != ".html":
        raise InputError(f"{output}: extension {output.suffix!r} is not .html")
    check_writable(output)
    opened = load_index(index, calibration=calibration)
    answers: Sequence[Duplicates | SearchResult]
    if query is None:
        groups = opened.duplicates(threshold, min_statements=min_statements, max_groups=top)
        answers, rows = [groups], groups.to_dicts()
        title = f"Similar functions in {index}"
    else:
        results = opened.search(query, function=function, top=top, options=options)
        answers, rows = results, [result.to_dict() for result in results]
        title = f"Functions in {index} similar to those of {query}"
    if output:
        about = f"{len(opened):,} functions, {opened.pooling} vectors."
        write_output(output, similar_page(answers, title=title, about=about).encode("utf-8", "backslashreplace"))
    return Answer(text=_parts(answers, sys.stdout.isatty() if source is None else source), json=rows)


def _parts(answers: "Sequence[Duplicates | SearchResult]", with_source: bool) -> Iterator[Any]:
    """The summary of each answer, and if wanted the source of its pairs side by side."""
    from ncc.tasks.search.pages import pairs_of, side_by_side

    for answer in answers:
        yield answer.summary()
        if with_source:
            yield from (side_by_side(*pair) for _, pairs in pairs_of(answer) for pair in pairs)
