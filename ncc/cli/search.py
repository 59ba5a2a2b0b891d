"""``ncc search``: functions similar to one, and groups of similar functions."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncc.cli.options import takes_compile_options
from ncc.cli.output import print_answer
from ncc.errors import InputError

if TYPE_CHECKING:
    from ncc.tasks.search.duplicates import Duplicates
    from ncc.tasks.search.index import IndexedFunction, SearchResult


@takes_compile_options()
def search(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="Folder that ncc index made.")],
    query: Annotated[str | None, typer.Argument(metavar="[QUERY]", help="File of code, or - for IR.")] = None,
    function: Annotated[
        str | None, typer.Option(metavar="NAME", help="Function of QUERY to search for; default: all.")
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, metavar="K", help="How many functions to find for each, or groups to show.")
    ] = 10,
    duplicates: Annotated[bool, typer.Option("--duplicates", help="Find groups of similar functions instead.")] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="Minimum similarity within a group; default: the similarity from which 90% of pairs are copies.",
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Calibration file of the lab; default: the shipped one."),
    ] = None,
    min_statements: Annotated[
        int, typer.Option(min=1, help="Leave functions with fewer statements out of groups.")
    ] = 10,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.html", help="Write a page with the source.")
    ] = None,
    source: Annotated[
        bool | None, typer.Option("--source/--no-source", help="Show source side by side; default: only on a terminal.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per function or group and line.")] = False,
    *,
    options: Any,
) -> None:
    """Find functions similar to those of a file, or groups of similar functions.

    ncc search code.index query.c --function parse --top 5

    ncc search code.index --duplicates -o similar.html
    """
    from ncc import api
    from ncc.system.files.writing import check_writable, write_output
    from ncc.tasks.search.pages import similar_page

    if query is not None and duplicates:
        raise InputError("give a file to search for or --duplicates, not both")
    if query is None and not duplicates:
        raise InputError("give a file to search for, or --duplicates")
    if output and output.suffix != ".html":
        raise InputError(f"{output}: extension {output.suffix!r} is not .html")
    check_writable(output)
    opened = api.load_index(index, calibration=calibration)
    answers: Duplicates | list[SearchResult]
    if query is None:
        answers = opened.duplicates(threshold, min_statements=min_statements, max_groups=top)
        title = f"Similar functions in {index}"
    else:
        answers = opened.search(query, function=function, top=top, options=options)
        title = f"Functions in {index} similar to those of {query}"
    if output:
        about = f"{len(opened)} functions, by pooling {opened.pooling}."
        write_output(output, similar_page(answers, title=title, about=about).encode("utf-8", "backslashreplace"))
    _print(answers, as_json, sys.stdout.isatty() if source is None else source)


def _print(answers: "Duplicates | list[SearchResult]", as_json: bool, with_source: bool) -> None:
    from ncc.tasks.search.duplicates import Duplicates
    from ncc.tasks.search.pages import pairs_of, side_by_side

    if as_json:
        for line in _objects(answers):
            print_answer(line)
        return
    blocks: list[tuple[str, list[IndexedFunction], list[tuple[IndexedFunction, IndexedFunction]]]] = []
    if isinstance(answers, Duplicates):
        rate = (
            "" if answers.copy_rate is None else f" ({answers.copy_rate:.0%} of pairs this similar or more are copies)"
        )
        print_answer(f"{answers.summary}{rate}")
        shown = zip(answers, pairs_of(answers), strict=True)
        # the representative is not a copy of itself
        blocks = [
            (title, [replace(group[0], copy_rate=None), *group.functions[1:]], pairs) for group, (title, pairs) in shown
        ]
    else:
        for answer in answers:
            title = f"{answer.query.demangled} ({answer.query.location})"
            blocks.append((title, list(answer), [(answer.query, one) for one in answer]))
    for title, found, pairs in blocks:
        print_answer("\n".join([title, *map(_line, found)]))
        if with_source:
            from rich.console import Console

            for left, right in pairs:
                Console(highlight=False).print(side_by_side(left, right))


def _line(found: "IndexedFunction") -> str:
    from ncc.tasks.search.pages import format_similarity

    return f"  {format_similarity(found)}  {found.demangled}  {found.location}"


def _objects(answers: "Duplicates | list[SearchResult]") -> list[dict[str, Any]]:
    from ncc.tasks.search.duplicates import Duplicates

    if isinstance(answers, Duplicates):
        about = {
            "threshold": answers.threshold,
            "threshold_copy_rate": answers.copy_rate,
            "pooling": answers.of.pooling,
        }
        return [
            {
                "similarity": group.similarity,
                "copy_rate": group.copy_rate,
                "num_statements": group.num_statements,
                "functions": [one.to_dict() for one in group],
                **about,
            }
            for group in answers
        ]
    return [
        {
            "query": answer.query.to_dict(),
            "matches": [one.to_dict() for one in answer],
            "pooling": answer.pooling,
        }
        for answer in answers
    ]
