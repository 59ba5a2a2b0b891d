"""Content of the site beside the pages in ``docs/``: pages of the repository, and reference made from definitions.

- The repository's own pages (`PAGES`: README, SECURITY, cards of datasets, …) are part of the site as they stand.
- Links are written as they work in the repository; a link that leaves ``docs/`` leads to such a page, or to a copy of
  the file that it names.
- ``python/*.md`` are pages of public names (`PYTHON`), made from their docstrings.
- ``<!-- verbs -->`` becomes all commands in the sections that ``ncc`` prints; ``<!-- verb: train embedding -->`` a
  command's options, JSON keys, exit codes and function, or the options of all commands of a group; ``<!-- names -->``
  all public names; ``<!-- model: embedding/embedding -->`` the arrays and JSON keys of a shipped model;
  ``<!-- columns -->`` the columns of a table of measured times.
"""

import importlib
import inspect
import json
import posixpath
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import chdir
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import griffe
from click.testing import CliRunner
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import ncc
import ncc_lab
from ncc.cli.main import SECTIONS, VerbGroup, app
from ncc.kernels.measure.table import COLUMNS
from ncc.verbs.types import Command, load_command

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

PYTHON = {
    "vectors": (
        "Vectors",
        "EmbeddedModule embed_many similarity save_vectors CodeVectorizer Embedding Backoff load_embedding "
        "load_encoder",
    ),
    "graphs": (
        "Modules and graphs",
        "Module CompileOptions XFG load_module read_module build_xfg count_contexts load_program_graphs "
        "require_confinement",
    ),
    "devices": ("Device predictions", "DevicePrediction DeviceCurve Explanation load_device_head"),
    "coarsening": ("Coarsening predictions", "CoarseningPrediction load_coarsening_head"),
    "gpus": ("Launch times and profiles", "GpuPrediction LaunchProfile load_gpu_head"),
    "classes": ("Classes", "ClassPrediction load_classifier"),
    "search": ("Search", "Index SearchResult Duplicates Calibration load_index"),
    "measurements": ("Measurements", "Device Measurements list_devices"),
    "training": ("Training", "EmbeddingConfig EncoderTraining ClassifierTraining load_counts"),
    "errors": (
        "Errors",
        "NccError InputError InputFileError UnknownNameError CompileError IRError AssetError DataError OutputError "
        "MissingExtraError",
    ),
    "lab": ("The lab", " ".join(ncc_lab.__all__)),
}
"""Pages of public names: file, title, names. Functions that are commands are on the pages of these."""
PARTS = {
    "devices": ("ncc.tasks.devices.prediction.LineContribution",),
    "classes": ("ncc.tasks.classification.predict.ClassProbability",),
    "gpus": ("ncc.kernels.execution.LoopTripCount",),
    "training": ("ncc.learning.training.config.TrainingConfig", "ncc.learning.corpus.build.CorpusReport"),
    "search": (
        "ncc.tasks.search.index.IndexedFunction",
        "ncc.tasks.search.index.IndexReport",
        "ncc.tasks.search.duplicates.Group",
    ),
}
"""Classes of objects in results, on the same pages."""

EXAMPLES = {
    "embed": ("embed datasets/samples/sort.c --level function --json",),
    "graph": ("graph datasets/samples/saxpy.cl --json",),
    "predict-device": ("predict-device datasets/samples/saxpy.cl --explain --json",),
    "predict-coarsening": ("predict-coarsening datasets/samples/saxpy.cl --json",),
    "predict-gpu": ("predict-gpu datasets/gpu/saxpy.cu --grid 1024 --block 256 --json",),
    "info": ("info --json",),
    "profile": ("profile datasets/gpu/saxpy.cu --grid 1024 --block 256 --arg n=1000000 --json",),
    "classify": ("classify datasets/samples/sort.c --json",),
    "index": ("index datasets/samples/sort.c -o {folder} --json",),
    "search": (
        "index datasets/samples/sort.c -o {folder}",
        "search {folder} datasets/samples/sort.c --function quicksort --json",
    ),
}
"""Commands whose last one prints the JSON keys of a verb."""

_KEYS = {
    "input": "The input as it was given, or the name of a file in it.",
    "ok": "Whether the input was answered.",
    "error": "The reason if it was not.",
    "backoff": "Level of the vocabulary → statements that have their vector from it.",
    "dim": "Numbers of a vector.",
    "level": "As `--level`.",
    "pooling": "Name of the pooling that made the vectors; null for statements.",
    "vectors": "Level → vectors of `dim` numbers.",
    "labels": "Names of the vectors: functions, statements, or the input.",
    "demangled": "Names as in the source.",
    "num_statements": "Statements that were read.",
    "unknown_rate": "Fraction of them that are not in the vocabulary, 0 to 1.",
    "num_edges": "Edges of the graph: one per operand.",
    "edges_by_kind": "Edges of each kind: path, data and control.",
    "graph": "`nodes` (id, name, kind), `edges` (source, target, statement, kind) and the texts of `statements`; only "
    "without `-o`.",
    "explanation": "With `--explain`: source lines, the strongest contribution first.",
    "kernels": "The same keys for each kernel of the file; those above are of the first.",
    "data_dependent_loops": "Number of loops whose trip count depends on data or on arguments that were not given; "
    "each is assumed to run eight times.",
    "num_bytes": "Bytes of the index on disk.",
    "kernel": "Name of the kernel in the IR.",
    "grid": "Blocks in each dimension.",
    "block": "Threads of a block in each dimension.",
    "version": "Version of ncc.",
    "python": "Version of Python.",
    "llvm": "Version of the LLVM that reads bitcode and optimizes.",
    "compiler": "Command of the compiler, without arguments.",
    "confinement": "What confines compilers here.",
    "reads": "Extensions of files that are read.",
    "embedding": "`id` and `dim` of the statement embedding, and its card: data, command and scores.",
    "encoder": "`id` and `dim` of the encoder, and its card.",
    "device_heads": "Platform → card of its head.",
    "coarsening_head": "Card of the head for coarsening.",
    "classifier": "Card of the classifier.",
    "data_folder": "Folder of datasets.",
}
"""Meanings of keys that no result class declares."""
_RESULTS = {"embed": "EmbeddedModule", "search": "SearchResult", "devices": "Device"}
_OBJECTS = ("classes", "explanation", "kernels", "loops", "matches")
"""Keys that hold objects, whose keys are listed too."""

_ORIGINS = {place: origin for origin, place in PAGES.items()}
_LINK = re.compile(
    r"(?P<start>!?\[(?:[^][]|\[[^]]*\])*\]\(|\b(?:src|srcset|href)=\")"
    r"(?P<target>[^)#\s\"]*)(?P<anchor>#[^)\s\"]*)?(?P<end>[)\"])"
)
_DIRECTIVE = re.compile(r"^<!-- (?P<kind>verbs|verb|names|model|columns)(?:: (?P<argument>[\w/ -]+))? -->$", re.M)
_JSON_WORDS = {"None": "null", "True": "true", "False": "false"}
_PYTHON_WORD = re.compile(r"\b(?:None|True|False)\b")
_ATTRIBUTE = re.compile(r"^    (\w+(?:, \w+)*): ", re.M)
_SEVERAL = re.compile(r"^( +)(\w+(?:, \w+)+)(: .*(?:\n\1 +.*)*)", re.M)
"""Names that share a text in a docstring, and this text."""


class SharedTexts(griffe.Extension):
    """Docstrings of verbs with the texts that they share, as ``help`` shows them; one item for each name."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Replaces a docstring that was read from the source."""
        module = ncc_lab if obj.path.startswith("ncc_lab.") else ncc
        if obj.docstring and ".verbs." in obj.path and obj.name in module.__all__:
            obj.docstring.value = inspect.getdoc(getattr(module, obj.name)) or ""
        if obj.docstring:
            obj.docstring.value = _SEVERAL.sub(
                lambda found: "\n".join(f"{found[1]}{name}{found[3]}" for name in found[2].split(", ")),
                obj.docstring.value,
            )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the repository's pages, and those of public names."""
    for origin, place in PAGES.items():
        text = (ROOT / origin).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    for name, (title, names) in PYTHON.items():
        module = ncc_lab if name == "lab" else ncc
        paths = [*(_path(getattr(module, each)) for each in names.split()), *PARTS.get(name, ())]
        text = "\n\n".join([f"# {title}", *(f"::: {path}" for path in paths)])
        files.append(File.generated(config, f"python/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fills in the reference, and turns links of the repository into links of the site."""
    makers: dict[str, Callable[..., str]] = {
        "verbs": list_verbs,
        "verb": describe_verb,
        "names": list_names,
        "model": describe_model,
        "columns": lambda: _table(("column", "contents"), [(f"`{name}`", text) for name, text in COLUMNS.items()]),
    }
    markdown = _DIRECTIVE.sub(lambda found: makers[found["kind"]](*filter(None, [found["argument"]])), markdown)
    place = page.file.src_uri
    origin = _ORIGINS.get(place, f"docs/{place}")

    def follow(found: re.Match[str]) -> str:
        target = found["target"]
        if not target or ":" in target:
            return found[0]
        goal = _place_of(posixpath.normpath(posixpath.join(posixpath.dirname(origin), target)), config, files)
        path = posixpath.relpath(goal, posixpath.dirname(place) or ".")
        return f"{found['start']}{path}{found['anchor'] or ''}{found['end']}"

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


def list_verbs() -> str:
    """Tables of all commands in their sections, with links to their pages."""
    sections = {title: [*verbs] for title, verbs in SECTIONS.items()}
    sections["Evaluate"] = [f"{group} {name}" for group in ("evaluate", "bench") for name in _find(group)[0].verbs]
    parts = []
    for title, verbs in sections.items():
        rows = [(f"[ncc {verb}]({_page_of(verb)})", _purpose(verb)) for verb in verbs]
        parts.append(f"## {title}\n\n{_table(('command', 'purpose'), rows)}")
    return "\n\n".join(parts)


def _page_of(verb: str) -> str:
    group, is_part, _ = verb.partition(" ")
    pages = _pages_of_verbs()
    return pages[verb] if verb in pages or not is_part else f"{pages[group]}#ncc-{verb.replace(' ', '-')}"


@cache
def _pages_of_verbs() -> dict[str, str]:
    pages = {path.name: _DIRECTIVE.search(path.read_text("utf-8")) for path in (ROOT / "docs/commands").glob("*.md")}
    return {found["argument"]: name for name, found in pages.items() if found and found["kind"] == "verb"}


@cache
def _find(verb: str) -> tuple[Any, Command | None]:
    """A command's click command, and its definition unless it is a group."""
    found: click.Command | None = app
    definition = None
    for word in verb.split():
        assert isinstance(found, VerbGroup), verb
        if place := found.verbs.get(word):
            definition = load_command(place)
        found = found.get_command(click.Context(found), word)
    assert found is not None, f"there is no command {verb!r}"
    return found, definition


def describe_verb(verb: str) -> str:
    """The reference of a command, or the options of all commands of a group."""
    found, definition = _find(verb)
    if definition is None:
        parts = [
            f"## ncc {verb} {name}\n\n{_purpose(f'{verb} {name}')}\n\n{_options(f'{verb} {name}')}"
            for name in found.verbs
        ]
        return "\n\n".join([*parts, "## Exit codes", _exit_codes()])
    parts = ["## Options", _options(verb), *_json(verb, definition), "## Exit codes", _exit_codes(definition)]
    function = definition.api or definition.run
    if function.__name__ in ncc.__all__:
        results = [
            f"[`{name}`][{_path(getattr(ncc, name))}]" for name in _result_names(function) if name != function.__name__
        ]
        parts += ["## In Python", f"Result: {', '.join(results)}" if results else "", f"::: {_path(function)}"]
    return "\n\n".join(filter(None, parts))


def _purpose(verb: str) -> str:
    return str(_find(verb)[0].get_short_help_str(200))


def _options(verb: str) -> str:
    command, _ = _find(verb)
    context = click.Context(command, info_name=f"ncc {verb}")
    rows: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record and parameter.name != "help":
            rows[parameter.name.startswith("options__")].append((f"`{record[0]}`", record[1]))
    text = f"```text\n{command.get_usage(context)}\n```\n\n"
    if rows[False]:
        text += _table(("option", "effect"), rows[False])
    if rows[True]:
        nested = _table(("option", "effect"), rows[True]).replace("\n", "\n    ")
        text += f'\n\n??? abstract "Options for compiling"\n\n    {nested}'
    return text


def _exit_codes(definition: Command | None = None) -> str:
    resume = "; run the same command again to resume" if definition and definition.resumes else ""
    rows = [("0", "all went well"), ("1", "an input failed"), ("2", "wrong usage"), ("130", f"interrupted{resume}")]
    return _table(("code", "meaning"), rows)


def _json(verb: str, definition: Command) -> list[str]:
    """The keys that a command prints with ``--json``, from a run of it, with what they mean."""
    if verb in EXAMPLES:
        rows = [*_rows(_print_json(EXAMPLES[verb]), _texts(verb, definition.api or definition.run))]
    elif definition.has_json and (names := _results(verb, definition.run)):
        rows = [(f"`{key}`", text) for key, text in _attributes(getattr(ncc, names[0])).items()]
    else:
        return []
    rows = [(key, _PYTHON_WORD.sub(lambda word: _JSON_WORDS[word[0]], text)) for key, text in rows]
    return ["## JSON", "One object per line with `--json`.", _table(("key", "value"), rows)]


def _print_json(commands: Iterable[str]) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as folder, chdir(ROOT):
        for command in commands:
            result = CliRunner().invoke(app, command.format(folder=f"{folder}/made").split())
            assert result.exit_code == 0, f"ncc {command}: {result.output}"
    printed: dict[str, Any] = json.loads(result.stdout.splitlines()[0])
    return printed


def _rows(values: Mapping[str, Any], texts: Mapping[str, str], prefix: str = "") -> Iterable[tuple[str, str]]:
    for key, value in values.items():
        inner = value[0] if isinstance(value, list) and value else value
        is_object = key in _OBJECTS and isinstance(inner, dict)
        if is_object and not inner.keys() <= values.keys():
            mark = "[]." if isinstance(value, list) else "."
            yield from _rows(inner, texts, f"{prefix}{key}{mark}")
        else:
            yield f"`{prefix}{key}`", texts[key]


def _texts(verb: str, function: Callable[..., Any]) -> dict[str, str]:
    """Meanings of keys, from docstrings of the result's class and of others beside it."""
    properties: dict[str, str] = {}
    attributes: dict[str, str] = {}
    for name in _results(verb, function):
        result = getattr(ncc, name)
        beside = vars(importlib.import_module(result.__module__)).values()
        for each in [*(other for other in beside if inspect.isclass(other) and other is not result), result]:
            attributes |= _attributes(each)
            properties |= {
                key: (inspect.getdoc(value) or "").partition("\n\n")[0]
                for key, value in vars(each).items()
                if isinstance(value, property)
            }
    return properties | _KEYS | attributes


def _attributes(kind: type) -> dict[str, str]:
    """Attributes of a class, with their texts in its docstring."""
    _, _, section = (inspect.getdoc(kind) or "").partition("Attributes:\n")
    _, *parts = _ATTRIBUTE.split(section.partition("\n\n")[0])
    return {
        name: " ".join(text.split())
        for names, text in zip(parts[::2], parts[1::2], strict=True)
        for name in names.split(", ")
    }


def _results(verb: str, function: Callable[..., Any]) -> list[str]:
    """Public classes of which a verb prints the fields."""
    return [_RESULTS[verb]] if verb in _RESULTS else _result_names(function)


def _result_names(function: Callable[..., Any]) -> list[str]:
    """Public classes in what a function returns."""
    words = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
    return [word for word in words if word in ncc.__all__ and inspect.isclass(getattr(ncc, word))]


def list_names() -> str:
    """All public names with their summaries, by page; functions of commands first."""
    listed = {name for _, names in PYTHON.values() for name in names.split()}
    public = [name for name in ncc.__all__ if _is_documented(getattr(ncc, name)) and name not in listed]
    parts = [f"## Functions of commands\n\n{_names(ncc, public)}"]
    for name, (title, names) in PYTHON.items():
        parts.append(f"## {title}\n\n{_names(ncc_lab if name == 'lab' else ncc, names.split())}")
    return "\n\n".join(parts)


def _names(module: ModuleType, names: Iterable[str]) -> str:
    values = {name: getattr(module, name) for name in names}
    rows = [
        (f"[`{name}`][{_path(value)}]", (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " "))
        for name, value in values.items()
    ]
    return _table(("name", "purpose"), rows)


def _is_documented(value: Any) -> bool:
    return inspect.isfunction(value) or inspect.isclass(value)


def _path(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def describe_model(stem: str) -> str:
    """Arrays and JSON keys of a model that ships, from its files."""
    path = ROOT / "ncc/assets" / stem
    with path.with_suffix(".safetensors").open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    header.pop("__metadata__", None)
    rows = [(f"`{name}`", array["dtype"], " × ".join(map(str, array["shape"]))) for name, array in header.items()]
    keys = ", ".join(f"`{key}`" for key in json.loads(path.with_suffix(".json").read_bytes()))
    return f"{_table(('array', 'type', 'shape of the shipped one'), rows)}\n\nJSON keys: {keys}."


def _table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heading, ("---",) * len(heading), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    """Text in a table: bars and angles are none of Markdown's outside of code."""
    parts = re.split(r"(`[^`]+`)", text.replace("``", "`"))
    return "".join(part if part.startswith("`") else part.replace("|", "&#124;").replace("<", "&lt;") for part in parts)
