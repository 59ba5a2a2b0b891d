"""Blocks of code in pages: finding them, running them, and comparing what they print with what the page shows.

- ```` ```sh ```` runs in bash, ```` ```python ```` in the page's namespace; both must succeed.
- ```` ```console ```` shows commands after ``$ ``, continued after a backslash, each followed by what it prints;
  ```` ```pycon ```` is a doctest. ``...`` stands for anything, as where a number depends on the machine.
- A comment on the line before a block, ``<!-- full: why -->`` or ``<!-- not run: why -->``, keeps a block that takes
  long out of quick runs, and one that can't run out of all.
"""

import doctest
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LANGUAGES = ("sh", "console", "python", "pycon")
TIMEOUT_S = 600

BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>full|not run): (?P<why>[^\n]*) -->\n\n?)?```(?P<language>[\w-]*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
_NO_DRIVER = re.compile(r"^passed over: .* compiles no OpenCL C at all.*\n", re.MULTILINE)
"""What is told of a driver that this machine has beside the one that works."""
_COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n?(?P<output>(?:(?!\$ ).*(?:\n|$))*)", re.M)


@dataclass(frozen=True)
class Block:
    """A block of a page: the line where it begins, its language and text, and what the mark before it says."""

    line: int
    mark: str
    why: str
    language: str
    text: str


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page that are in a language that can run."""
    return [
        Block(page.count("\n", 0, found.start("language")) + 1, *(found[name] or "" for name in BLOCK.groupindex))
        for found in BLOCK.finditer(page)
        if found["language"] in LANGUAGES
    ]


def run_block(block: Block, folder: Path, names: dict[str, Any]) -> None:
    """Runs a block in a folder, Python in the page's namespace; an error says what failed or was printed instead."""
    if block.language == "sh":
        _shell(block.text, folder)
    elif block.language == "console":
        for found in _COMMAND.finditer(block.text):
            printed = _NO_DRIVER.sub("", _shell(found["command"], folder))
            assert matches(found["output"], printed), (
                f"$ {found['command']}\nthe page shows:\n{found['output']}\nprinted:\n{printed[:4000]}"
            )
    elif block.language == "python":
        exec(compile(block.text, f"line {block.line}", "exec"), names)
    else:
        _doctest(block, names)


def matches(shown: str, printed: str) -> bool:
    """Whether a text is what a page shows, spaces at ends of lines aside.

    ``...`` stands for anything, and on a line of its own for any number of lines.
    """
    pattern = ""
    for line in _trimmed(shown).splitlines():
        pattern += r"(?:.*\n)?" if line == "..." else ".*".join(re.escape(part) for part in line.split("...")) + r"\n"
    return re.fullmatch(pattern, f"{_trimmed(printed)}\n", re.S) is not None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _shell(script: str, folder: Path) -> str:
    """What a script prints, data and messages as they come."""
    finished = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        env=os.environ | {"COLUMNS": "100"},
    )
    assert finished.returncode == 0, f"exit code {finished.returncode} of\n{script}\n{finished.stdout}"
    return finished.stdout


def _doctest(block: Block, names: dict[str, Any]) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(block.text, names, "page", "page", block.line)
    test.globs = names  # not a copy: later blocks go on with what this one defines
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test, out=failures.append, clear_globs=False)
    assert not failures, "".join(failures)
