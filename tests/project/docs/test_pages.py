"""What the pages show is what happens: their blocks of code are run, and all that they name exists."""

import re
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from ncc.errors import NccError
from tests.project.docs.blocks import Block, blocks_of, matches, run_block
from tests.rooms import verify

ROOT = Path(__file__).parents[3]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
}
_NEEDS = re.compile(r"needs (?P<datasets>\w+(?:, \w+)*)")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the repository's samples, like a checkout, which the page's commands may fill."""
    monkeypatch.delenv("NCC_CLANG", raising=False)
    for name in ("datasets", "cluster"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(page: str, folder: Path, marks: tuple[str, ...]) -> None:
    names: dict[str, object] = {"__name__": page}
    for block in blocks_of(PAGES[page]):
        if block.mark in marks and not _missing(block):
            try:
                run_block(block, folder, names)
            except Exception as error:
                raise AssertionError(f"{page}, block at line {block.line}: {error}") from error


def _missing(block: Block) -> list[str]:
    """Datasets, or the driver of the extra "measure", that a block needs and that are not here."""
    found = _NEEDS.search(block.why)
    return [name for name in found["datasets"].split(", ") if not _is_here(name)] if found else []


def _is_here(name: str) -> bool:
    return _measures() if name == "measure" else verify(name).usable


@cache
def _measures() -> bool:
    """Whether there are OpenCL devices, and all of them compile."""
    if not find_spec("pyopencl"):
        return False
    from tests.rooms import choose_devices

    try:
        return bool(choose_devices(None))
    except NccError:
        return False


@pytest.mark.parametrize("page", [page for page in PAGES if any(not block.mark for block in blocks_of(PAGES[page]))])
def test_blocks_of_a_page_do_what_it_shows(page, folder):
    _run(page, folder, ("",))


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [page for page in PAGES if "<!-- full: " in PAGES[page]])
def test_long_blocks_of_a_page_do_what_it_shows(page, folder):
    _run(page, folder, ("", "full"))


NOT_RUN = {
    ("README.md", "installs a fresh environment, as .ci/run does"),
    ("CONTRIBUTING.md", "installs a fresh environment, as .ci/run does"),
    ("docs/howto/cluster.md", "needs a Dask cluster"),
    ("docs/howto/cluster.md", "needs POJ-104 and half an hour"),
    ("docs/howto/cluster.md", "needs a cluster with SLURM"),
    ("docs/commands.md", "needs poj104 and source packages, and compiles for half an hour"),
    ("docs/commands.md", "needs gpuflop, and compiles 305 programs for a quarter of an hour"),
    ("docs/howto/embed-a-project.md", "needs a project with a Makefile and a clang of its own"),
    ("docs/howto/look-at-a-graph.md", "needs SQLite's amalgamation"),
    ("docs/howto/find-code-like-this.md", "needs source packages"),
}


def test_blocks_that_are_not_run_are_known():
    """Whoever adds one adds it here, so that the list stays short."""
    assert {
        (page, block.why) for page, text in PAGES.items() for block in blocks_of(text) if block.mark == "not run"
    } == NOT_RUN


def test_commands_that_install_are_those_that_ci_runs():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("pip install -q ", "pip install ")
    for command in re.findall(r"^pip install .*$", PAGES["README.md"], re.M):
        for part in command.split(" && "):
            assert re.search(rf"^\W*(.* && )?{re.escape(part)}( && .*)?$", script, re.M), part


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", text)
    assert [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_paths_in_a_page_exist(page):
    roots = "ncc|tests|benchmarks|datasets|notebooks|docs|fuzz|cluster"
    named = re.findall(rf"`((?:{roots})/[\w./-]+)`", PAGES[page])
    assert [path for path in named if not (ROOT / path).exists() and "TASK" not in path] == []


def test_every_command_has_its_section():
    from tests.rooms import app as group

    names = set()
    context = group.make_context("ncc", [], resilient_parsing=True)
    for name in group.list_commands(context):
        parts = getattr(group.get_command(context, name), "verbs", None)
        names |= {f"{name} {part}" for part in parts} if parts else {name}
    assert set(re.findall(r"^### ncc ([a-z -]+)$", PAGES["docs/commands.md"], re.M)) == names


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("93%", "93%\n", True),
        ("93%", "94%", False),
        ("a ... c", "a b\nb c", True),
        ("a ...", "b a b", False),
        ("a.c", "abc", False),
        ("a\n...\nb", "a\nb", True),
        ("...\na", "b\na", True),
        ("a\n...", "a", True),
        ("a\n...\nb", "a b", False),
        ("two  \nlines", "two\nlines  ", True),
    ],
)
def test_what_is_printed_is_compared(shown, printed, same):
    assert matches(shown, printed) is same


def test_blocks_are_found_with_their_marks():
    page = (
        "x\n```sh\na\n```\n<!-- full: slow -->\n```python\nb\n```\n"
        "<!-- not run: no -->\n\n```console\n$ c\n```\n```\nd\n```\n"
    )
    assert blocks_of(page) == [
        Block(2, "sh", "a\n", "", ""),
        Block(6, "python", "b\n", "full", "slow"),
        Block(11, "console", "$ c\n", "not run", "no"),
    ]


@pytest.mark.parametrize(
    "block",
    [
        Block(1, "sh", "false\ntrue\n", "", ""),
        Block(1, "console", "$ echo 1\n2\n", "", ""),
        Block(1, "console", "$ echo 1\n1\n$ echo 2\n3\n", "", ""),
        Block(1, "python", "assert False\n", "", ""),
        Block(1, "pycon", ">>> 1 + 1\n3\n", "", ""),
    ],
)
def test_a_block_that_does_something_else_fails(block, tmp_path):
    with pytest.raises(AssertionError):
        run_block(block, tmp_path, {})


def test_a_block_that_does_what_it_shows_passes(tmp_path):
    run_block(Block(1, "console", "$ echo 1 \\\n  2\n1 2\n$ echo 3\n3\n", "", ""), tmp_path, {})
    names: dict[str, object] = {}
    run_block(Block(1, "python", "a = 1\n", "", ""), tmp_path, names)
    run_block(Block(1, "pycon", ">>> b = a + 1\n>>> b\n2\n", "", ""), tmp_path, names)
    assert names["b"] == 2
