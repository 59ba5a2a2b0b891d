"""What the pages show is what happens: their blocks of code are run, and all that they name exists."""

import importlib.util
import re
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from ncc.errors import NccError
from tests.project.docs.blocks import Block, blocks_of, run_block
from tests.rooms import choose_devices, verify

ROOT = Path(__file__).parents[3]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
}
BLOCKS = {page: blocks_of(text) for page, text in PAGES.items()}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the repository's samples, like a checkout, which the page's commands may fill."""
    for name in ("datasets", "cluster"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_page(page: str, folder: Path, marks: tuple[str, ...]) -> None:
    names: dict[str, object] = {"__name__": page}
    for block in BLOCKS[page]:
        if block.mark in marks and has_its_data(block):
            try:
                run_block(block, folder, names)
            except Exception as error:
                raise AssertionError(f"{page}, block at line {block.line}: {error}") from error


def has_its_data(block: Block) -> bool:
    """Whether the datasets that a block needs are here, or the driver of the extra "measure"."""
    needed = re.search(r"needs (\w+(?:, \w+)*)", block.why)
    names = needed[1].split(", ") if needed else []
    states = [state for name in names if name != "measure" for state in verify(name).values()]
    return all(state.is_usable for state in states) and ("measure" not in names or can_measure())


@cache
def can_measure() -> bool:
    """Whether there are OpenCL devices, and all of them compile."""
    try:
        return bool(find_spec("pyopencl") and choose_devices(None))
    except NccError:
        return False


@pytest.mark.parametrize("page", [page for page in PAGES if any(not block.mark for block in BLOCKS[page])])
def test_blocks_of_a_page_do_what_it_shows(page, folder):
    run_page(page, folder, ("",))


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [page for page in PAGES if any(block.mark == "full" for block in BLOCKS[page])])
def test_long_blocks_of_a_page_do_what_it_shows(page, folder):
    run_page(page, folder, ("", "full"))


NOT_RUN = {
    ("README.md", "installs a fresh environment, as .ci/run does"),
    ("CONTRIBUTING.md", "installs a fresh environment, as .ci/run does"),
    ("docs/commands/explore.md", "ends with Ctrl-C"),
    ("docs/howto/cluster.md", "needs POJ-104 and half an hour"),
    ("docs/howto/cluster.md", "needs a cluster with SLURM"),
    ("docs/commands/train-encoder.md", "needs poj104 and source packages, and compiles for half an hour"),
    ("docs/commands/train-gpu.md", "needs gpuflop, and compiles 305 programs for a quarter of an hour"),
    ("docs/howto/embed-a-project.md", "needs a project with a Makefile and its own clang"),
    ("docs/howto/embed-a-project.md", "needs a project with CMake or Meson"),
    ("docs/howto/look-at-a-graph.md", "needs SQLite's amalgamation"),
    ("docs/howto/find-code-like-this.md", "needs source packages"),
    ("docs/howto/share-a-model.md", "needs the hub"),
    ("docs/releasing.md", "needs root and Debian"),
}


def test_blocks_that_are_not_run_are_known():
    """Whoever adds one adds it here, so that the list stays short."""
    assert {(page, block.why) for page in PAGES for block in BLOCKS[page] if block.mark == "not run"} == NOT_RUN


def test_commands_that_install_are_those_that_ci_runs():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("pip install -q ", "pip install ")
    for command in re.findall(r"^pip install .*$", PAGES["README.md"], re.M):
        for part in command.split(" && "):
            assert re.search(rf"^\W*(.* && )?{re.escape(part)}( && .*)?$", script, re.M), part


@pytest.mark.parametrize("page", PAGES)
def test_links_and_paths_of_a_page_exist(page):
    text = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.M | re.S)
    linked = [(ROOT / page).parent / target for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", text)]
    roots = "ncc|tests|benchmarks|datasets|notebooks|docs|fuzz|cluster"
    named = [ROOT / path for path in re.findall(rf"`((?:{roots})/[\w./-]+)`", PAGES[page]) if "TASK" not in path]
    assert [path for path in [*linked, *named] if not path.exists()] == []


def test_every_command_has_its_page():
    from tests.rooms import app as group

    names = set()
    context = group.make_context("ncc", [], resilient_parsing=True)
    for name in group.list_commands(context):
        parts = getattr(group.get_command(context, name), "verbs", None)
        names |= {f"{name} {part}" for part in parts} if parts and name in ("corpus", "train") else {name}
    directives = [
        re.findall(r"^<!-- verb: ([a-z -]+) -->$", PAGES[page], re.M) for page in PAGES if "/commands/" in page
    ]
    assert sorted(verb for verbs in directives for verb in verbs) == sorted(names)


@pytest.fixture(scope="module")
def picture() -> ModuleType:
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs/picture.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _words_and_numbers(text: str) -> tuple[list[str], list[float]]:
    number = r"-?\d+(?:\.\d+)?"
    return re.split(number, text), [float(found) for found in re.findall(number, text)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_picture_is_what_ncc_draws(picture: ModuleType, theme: str) -> None:
    kept = (ROOT / f"docs/picture-{theme}.svg").read_text(encoding="utf-8")
    words, numbers = _words_and_numbers(picture.draw(theme))
    kept_words, kept_numbers = _words_and_numbers(kept)
    assert words == kept_words
    assert numbers == pytest.approx(kept_numbers, abs=0.11)  # they are rounded, and processors differ
    assert len(kept) <= 150_000


def test_badges_tell_what_the_project_says_of_itself(picture: ModuleType) -> None:
    for label, value in picture.badges().items():
        assert (ROOT / f"docs/badges/{label}.svg").read_text(encoding="utf-8") == picture.draw_badge(label, value)
