"""The figures at the top of a page of results stand in the files that it names, and its commands have their options."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tests.rooms import app

ROOT = Path(__file__).parents[3]
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "results").glob("*.md"))}
SCALES = (1, 100, 1e-3)
"""A figure is as in the file, in %, or in thousands, such as GB of MB."""


def numbers_in(value: Any) -> Iterator[float]:
    """All numbers of a JSON document."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(item)
    elif isinstance(value, int | float):
        yield value


def headline_figures(page: str) -> list[str]:
    """Figures with decimals in the first table, except those published elsewhere and those of commands."""
    table = re.search(r"(?:^\|.*\n)+", page, re.M)
    assert table
    header, _, *rows = [line.strip("|").split("|") for line in table[0].splitlines()]
    assert header[-1].strip() == "command"
    cells = [
        cell for row in rows for name, cell in zip(header, row, strict=True) if not re.search("publi|command", name)
    ]
    return re.findall(r"(?<![\d.,])\d+\.\d+(?![\d.])", " ".join(cells))


@pytest.mark.parametrize("page", PAGES)
def test_figures_at_the_top_of_a_page_are_in_its_files(page):
    top, _, _ = PAGES[page].partition("\n## ")
    files = re.findall(r"\]\(([^)]*results/[^)]*\.json)\)", top)
    numbers = [
        number for file in files for number in numbers_in(json.loads((ROOT / "docs/results" / file).read_text()))
    ]
    figures = headline_figures(top)
    assert figures
    assert [figure for figure in figures if not is_among(figure, numbers)] == []


def is_among(figure: str, numbers: list[float]) -> bool:
    """Whether a number is the figure when rounded to its decimals."""
    decimals = len(figure.partition(".")[2])
    return any(f"{number * scale:.{decimals}f}" == figure for number in numbers for scale in SCALES)


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_have_the_options_that_it_gives_them(page):
    code = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", PAGES[page])]
    commands = [match[1] for span in code if (match := re.search(r"(?:^|-m |=\S+ )ncc ([a-z].*)", span))]
    assert [command for command in commands if unknown_options(command)] == []


def test_commands_of_shipped_models_have_their_options():
    cards = {path: path.read_text(encoding="utf-8") for path in (ROOT / "ncc" / "assets").rglob("*.json")}
    commands = [command for card in cards.values() for command in re.findall(r'"command": ?"ncc ([^"]+)"', card)]
    assert len(commands) > 5
    assert [command for command in commands if unknown_options(command)] == []


def unknown_options(line: str) -> set[str]:
    """Options on a command line that its command does not have."""
    command: click.Command | None = app
    words = shlex.split(line)
    context = click.Context(app)
    while isinstance(command, click.Group):
        command = command.get_command(context, words.pop(0))
    assert command, line
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return {word for word in words if re.match(r"--?[a-z]", word)} - known
