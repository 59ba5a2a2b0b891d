"""What the site is built from beside the pages in ``docs/``: pages of the repository, options of commands, the API.

- The repository's own pages (`PAGES`: README, SECURITY, cards of datasets, …) are part of the site as they stand.
- Links are written as they work in the repository; those that leave ``docs/`` lead to such a page, or to a copy of
  the file that they name.
- ``<!-- options: ncc embed -->`` becomes what ``ncc embed --help`` prints.
- ``<!-- api: ncc -->`` becomes the reference of all public names, from their docstrings.
"""

import importlib
import inspect
import posixpath
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from click.testing import CliRunner
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from ncc.cli.main import app

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    **{
        path.relative_to(ROOT).as_posix(): path.relative_to(ROOT).as_posix().replace("README", "index")
        for path in sorted(ROOT.glob("datasets/**/*.md"))
    },
}
"""Pages of the repository, and where each is in the site."""

_ORIGINS = {place: origin for origin, place in PAGES.items()}
_VERBS = {
    "Train and build corpora": ("train_", "build_corpus"),
    "Load and save": ("load_", "save_"),
    "Measure": ("evaluate_", "bench_", "draw_", "write_"),
    "Read and answer": ("",),
}
"""Groups of the reference, and how the names of their functions begin."""

_LINK = re.compile(r"(?P<start>!?\[(?:[^][]|\[[^]]*\])*\]\()(?P<target>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")
_OPTIONS = re.compile(r"^<!-- options: ncc (?P<command>[a-z -]+) -->$", re.M)
_API = re.compile(r"^<!-- api: (?P<module>[\w.]+) -->$", re.M)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the repository's pages."""
    for origin, place in PAGES.items():
        text = (ROOT / origin).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fills in options and reference, and turns links of the repository into links of the site."""
    markdown = _OPTIONS.sub(lambda found: options_of(found["command"]), markdown)
    markdown = _API.sub(lambda found: reference_of(found["module"]), markdown)
    place = page.file.src_uri
    origin = _ORIGINS.get(place, f"docs/{place}")

    def follow(found: re.Match[str]) -> str:
        target = found["target"]
        if not target or ":" in target:
            return found[0]
        goal = _place_of(posixpath.normpath(posixpath.join(posixpath.dirname(origin), target)), config, files)
        return f"{found['start']}{posixpath.relpath(goal, posixpath.dirname(place) or '.')}{found['anchor'] or ''})"

    return _outside_code(markdown, follow)


def _outside_code(markdown: str, follow: Callable[[re.Match[str]], str]) -> str:
    """Replaces links, except in blocks of code."""
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else _LINK.sub(follow, part) for part in parts)


def _place_of(target: str, config: MkDocsConfig, files: Files) -> str:
    """Where a file of the repository is in the site; a folder is represented by the page that describes it.

    Raises:
        FileNotFoundError: There is no such file, or a folder has no page.
    """
    if target in PAGES:
        return PAGES[target]
    if target.startswith("docs/"):
        return target.removeprefix("docs/")
    if (ROOT / target).is_dir():
        folder = target
        while f"{folder}/README.md" not in PAGES and folder:
            folder = posixpath.dirname(folder)
        return PAGES[f"{folder}/README.md"] if folder else "where.md"
    if not (ROOT / target).is_file():
        raise FileNotFoundError(f"a page links to {target}, which the repository lacks")
    place = f"files/{target}"
    if files.get_file_from_path(place) is None:
        files.append(File.generated(config, place, abs_src_path=str(ROOT / target)))
    return place


@cache
def options_of(command: str) -> str:
    """What ``--help`` says of a command, as a block that opens."""
    printed = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="ncc", env={"COLUMNS": "100"}).output
    lines = "\n".join(f"    {line}".rstrip() for line in ["```text", *printed.strip().splitlines(), "```"])
    return f'??? abstract "All options of ncc {command}"\n{lines}'


def reference_of(module_name: str) -> str:
    """Directives for mkdocstrings: a module's public names, by the modules that define them, group by group."""
    module = importlib.import_module(module_name)
    groups: dict[str, list[str]] = {title: [] for title in (*_VERBS, "Results and other classes", "Errors")}
    for name in sorted(module.__all__):
        value = getattr(module, name)
        if inspect.isclass(value):
            title = "Errors" if issubclass(value, Exception) else "Results and other classes"
        elif inspect.isfunction(value):
            title = next(title for title, verbs in _VERBS.items() if name.startswith(verbs))
        else:
            continue
        groups[title].append(f"::: {value.__module__}.{value.__qualname__}")
    return "\n\n".join("\n\n".join([f"## {title}", *names]) for title, names in groups.items() if names)
