"""Pages, help, error messages and docstrings are in plain American English: no pattern of the table comes back."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.rooms import app

ROOT = Path(__file__).parents[2]
PAGES = ("*.md", "docs/**/*.md", "datasets/**/*.md", "benchmarks/**/*.md", "notebooks/*.ipynb")
CODE = ("ncc/**/*.py", "lab/**/*.py", "benchmarks/**/*.py", "fuzz/**/*.py", "docs/*.py")
PATTERNS = {
    # pattern: what to write instead
    r"(?:that|those) which": "what, or a noun",
    r"for want of": "without; out of (memory)",
    r"(?:is|are|was|were) (?:told|untold|foretold)": "gets, is passed, predicted",
    r"(?:is|are|was|were) (?:not )?taken (?:to (?:be|have|hold|run)|for)": "is assumed, counts as",
    r"as (?:it is|they are)(?= *[.,;:])": "unchanged",
    r"(?:has|have|had) a say|speaks? for": "counts, favors",
    r"stands? for (?:them|all)": "represents, allows",
    r"in words": "as text",
    r"(?:by|in) way of": "through",
    r"of (?:one's|your|its|their|our) own": "your own x, custom, separate",
    r"the same of (?:a|an|the)": "the noun again",
    r"at the (?:least|most)": "lower bound, upper bound",
    r"no such (?!file|folder|header|command|option|argument)": "unknown",
    r"so (?:many|much) (?!more|less|that|as|for)\w+": "a number of, `limit`",
    r"beyond (?:all )?measure": "out of range",
    r"anew": "again",
    r"(?:go|goes|went) on with|to go on": "resume, continue",
    r"give (?:the command|it) again|is given again|after a stop": "run again to resume",
    r"(?:is|are|was|were) left out": "is skipped, is omitted",
    r"but for (?!all|each|every|one|two)": "except",
    r"whoever (?!wrote)|whosoever": "the noun",
    r"at (?:least|most)(?=[.;)])": "at least n",
    r"less (?:1|the|those)\b": "minus, without",
    r"where (?:there (?:is|are) (?:no\b|none\b|several)|it is not|they are not)(?!,)": "if",
    r"as (?:the|a|its) \w+ has it|(?:is|are) nothing to be|(?:is|are) to be (?!done)": "in, of; a verb",
    r"one after the other": "concatenated, in sequence, in order",
    r"(?:both|all|as) (?:bounds )?as common": "equal priors",
    r"of like|like (?:numbers|sizes?)": "equal, similar",
    r"further (?:flag|entr|compiler|option|field)\w*": "additional, another",
    r"(?:is|are|was|were) asked for": "is requested, is needed",
    r"[;,] default (?:the|by|one|all|those|any)": "default: x",
    r"\d+ %": "80%",
    r"\w+\((?:s|es)\)(?= )": "a real plural",
    r"(?:row|number|vector|line) a (?:row|node|vector|statement|launch|function)": "one row per vector",
    r"(?:un)?(?:colour|neighbour|favour|behaviour|centre[ds]?\b|learnt|whilst|optimis[aei]|normalis[aei]|generalis[aei]"
    r"|summaris[aei]|recognis[aei]|labelled|licence|judgement|grey\b)\w*": "American spelling",
}
"""Constructions of no native engineer, as in a text with single spaces, each from the start of a word."""
AT_START = {
    r"What\b": "the noun",
    r"(?:Of|None of) ": "a noun phrase that stands alone",
    r"(?:The same|Its own|Likewise)\.": "the noun again",
}
"""Constructions that a docstring, or the text of an argument, must not start with."""
ALLOWED = ("`labelled`", "labelled.py", "licence:", '"*dealt out anew"')
"""Names and quotations in which a pattern may occur."""


def findings(text: str, patterns: dict[str, str], start: str = r"\b") -> Iterator[str]:
    """Each occurrence of a pattern in a text, with the words around it."""
    text = " ".join(text.split())
    for allowed in ALLOWED:
        text = text.replace(allowed, "")
    for match in re.finditer(rf"{start}(?:{'|'.join(patterns)})", text, re.IGNORECASE):
        better = next(better for pattern, better in patterns.items() if re.match(pattern, text[match.start() :], re.I))
        around = text[max(match.start() - 40, 0) : match.end() + 40]
        yield f"{match.group()!r} in {around!r}: write {better}"


def strings(node: ast.AST) -> Iterator[str]:
    """The literals of a node, those of an f-string among them."""
    yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def docstrings_and_messages(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Line and text of what a file says to its readers, and whether it is a docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc:
            yield node.lineno, " ".join(strings(node.exc)), False
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or "", True


def argument_texts(docstring: str) -> Iterator[str]:
    """The summary, and the text of every argument, attribute and the like."""
    yield docstring
    yield from re.findall(r"^ +[\w*][\w*, ]*: (.*)", docstring, re.MULTILINE)


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Path and help of a command and of those below it."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from commands(below, click.Context(below, info_name=name, parent=context))


def test_constructions_are_found():
    text = "One vector a row,\nat the least for want of a stop, of its own colour; 80 % of what is told as it is."
    assert len([*findings(text, PATTERNS)]) == 8
    assert len([*findings("Size less 1, 95 % at least.", PATTERNS)]) == 3
    assert [*findings("What is told", AT_START, r"\A")] == ["'What' in 'What is told': write the noun"]


def text_of(page: Path) -> str:
    """Text of a page without its blocks of code, or of a notebook without its cells of code."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return re.sub(r"(?s)```.*?```", "", text)


def test_a_page_is_in_plain_english():
    paths = {path.relative_to(ROOT).as_posix(): path for pattern in PAGES for path in ROOT.glob(pattern)}
    found = [
        f"{name}: {finding}" for name, path in sorted(paths.items()) for finding in findings(text_of(path), PATTERNS)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("code", CODE)
def test_docstrings_and_messages_are_in_plain_english(code):
    found = []
    for path in sorted(ROOT.glob(code)):
        for line, text, is_docstring in docstrings_and_messages(path):
            problems = [*findings(text, PATTERNS)]
            if is_docstring:
                problems += [problem for part in argument_texts(text) for problem in findings(part, AT_START, r"\A")]
            found += [f"{path.relative_to(ROOT)}:{line}: {problem}" for problem in problems]
    assert not found, "\n".join(found)


def test_help_is_in_plain_english():
    found = [
        f"{name}: {finding}"
        for name, text in commands(app, click.Context(app, info_name="ncc"))
        for finding in findings(text, PATTERNS)
    ]
    assert not found, "\n".join(found)
