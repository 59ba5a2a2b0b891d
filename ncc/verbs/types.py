"""Verbs as the command line sees them: words for their parameters, and parts of their answers."""

import inspect
import operator
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from pkgutil import resolve_name
from textwrap import fill
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from ncc.errors import InputError, naming_extras
from ncc.ir.frontend.options import CompileOptions

if TYPE_CHECKING:
    from ncc.system.files.tables import VectorFile

_Function = TypeVar("_Function", bound=Callable[..., Any])
_call_once = lru_cache(maxsize=8)(operator.call)  # a process that works on inputs reads each model once

ARGUMENT = re.compile(r"^    (\w+): (.*(?:\n {5,}.*)*)", re.M)
"""An argument's name and text in the section of a docstring."""

PathLike = str | os.PathLike[str]
Source = PathLike | bytes
Level = Literal["module", "function", "statement"]


@dataclass(frozen=True, eq=False)
class Words:
    """How the command line writes a parameter, or not at all."""

    metavar: str = ""  # name of a value in the help; in brackets: of an argument that may be left out
    help: str = ""  # its text, unless a docstring has one
    parse: Callable[[str], Any] | None = None  # makes the value from text
    minimum: float | None = None  # smallest number allowed
    option: tuple[str, ...] = ()  # names of the option, unless that of the parameter
    fields: "Mapping[str, Words | None]" = field(default_factory=dict)  # of a dataclass that are options
    is_option: bool = True  # whether the command line has it
    is_required: bool = False  # whether the command line needs it, though it has a default


@dataclass(frozen=True)
class Rows:
    """Rows of words: a table on a terminal, else lines in columns."""

    rows: Sequence[Sequence[str]]
    heading: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The output of a command."""

    text: "str | Rows | Iterable[Any]" = ""  # for people; parts are summaries and what `rich` prints
    json: Mapping[str, Any] | Sequence[Mapping[str, Any]] = ()  # for machines: an object, or one per line
    failures: Sequence[str] = ()  # messages about inputs that failed
    is_failed: bool = False  # whether the exit code is 1 without failures


@dataclass(frozen=True, kw_only=True)
class PerInput:
    """How a command answers each of its inputs; one that fails does not stop the others."""

    fields: str = ""  # of an object, as null also if its input failed, beside those of every command
    head: str = ""  # the function that loads one, as "module:name"
    kernels: bool = True  # skip C and C++ files of a folder that can't hold a kernel
    prepare: "Callable[[int, dict[str, Any]], VectorFile | None] | None" = None
    """Checks the number of inputs, and completes options; may return a file that gets the vectors of all inputs."""

    def load(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with models instead of their folders, each read once by a process."""
        loaders = {
            "head": self.head,
            "embedding": "ncc.learning.embedding.embedding:load_embedding",
            "encoder": "ncc.learning.encoder.pooling:load_encoder",
        }
        loaded = dict(options)
        for name, place in loaders.items():
            if options.get(name) is not None:
                load = resolve_name(place)
                loaded[name] = _call_once(load, options[name], **_named_by(load, options))
        return loaded


@dataclass(frozen=True, kw_only=True)
class Command:
    """A verb as a command.

    With ``per_input``, it calls ``api`` for each input, and ``run`` with the result and the options that this names.
    What ``run`` returns are then the fields of the JSON object, summaries for people, and columns and vectors for the
    file of all inputs. Without ``api``, ``run`` is the public function, and its results show themselves.
    """

    run: Callable[..., Any]
    place: str  # "module:name"
    api: Callable[..., Any] | None = None
    per_input: PerInput | None = None
    show: Callable[[Any], Answer] | None = None  # makes an answer of what ``run`` returns, unless that is one
    has_json: bool = False  # whether ``--json`` prints the object of the answer
    compiles: bool = True  # whether it may run a compiler
    resumes: bool = False  # whether it resumes when it is run again
    is_brief: bool = False  # whether a message a second is enough

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Parameters in the order of the help; those of ``api`` come first."""
        parameters: dict[str, inspect.Parameter] = {}
        for function in (self.api, self.run, _for_each if self.per_input else None):
            for name, parameter in inspect.signature(function).parameters.items() if function else ():
                parameters.setdefault(name, parameter)
        return parameters

    def answer(self, source: Any, options: Mapping[str, Any]) -> tuple[Any, ...]:
        """Answer for an input."""
        assert self.per_input
        api = self.api or self.run
        result = api(source, **_named_by(api, self.per_input.load(options)))
        return self.run(result, **_named_by(self.run, options)) if self.api else show_results(result)


def _for_each(inputs: list[str], *, jobs: int = 1, as_json: bool = False) -> None:
    """Have the parameters of every command that answers for each of its inputs."""


def _named_by(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in inspect.signature(function).parameters if name in options}


def show_results(results: Any, **how: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return the fields and summary of a result, or of the first of a file's kernels, and those of each."""
    if not isinstance(results, tuple):
        return results.to_dict(), [results.summary(**how)]
    rows = [result.to_dict() for result in results]
    return rows[0] | {"kernels": rows}, [result.summary(**how) for result in results]


def load_command(place: str) -> Command:
    """Load the command at "module:name"."""
    definition = resolve_name(place)
    return cast(Command, getattr(definition, "command", definition))


def command(api: Callable[..., Any] | None = None, **settings: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command; see `Command`."""
    return lambda run: Command(run=run, place=f"{run.__module__}:{run.__name__}", api=api, **settings)


def verb(**settings: Any) -> Callable[[_Function], _Function]:
    """Make a function read those arguments that are text, as on the command line, and tell what it needs installed.

    Settings are those of its command, which is its attribute ``command``.
    """

    def decorate(declared: _Function) -> _Function:
        parsers = {
            name: words.parse
            for name, parameter in inspect.signature(declared).parameters.items()
            if (words := unpack(name, parameter.annotation)[1]).parse
        }

        @wraps(document(declared))
        def call(*args: Any, **kwargs: Any) -> Any:
            for name, parse in parsers.items():
                if isinstance(kwargs.get(name), str):  # as it is written on the command line
                    kwargs[name] = parse(kwargs[name])
            with naming_extras():
                return declared(*args, **kwargs)

        call.command = Command(run=call, place=f"{declared.__module__}:{declared.__name__}", **settings)  # type: ignore[attr-defined]
        return cast(_Function, call)

    return decorate


def document(function: _Function) -> _Function:
    """Add the texts that verbs share to the ``Args`` of a docstring, in the order of the signature."""
    about, title, sections = (inspect.getdoc(function) or "").partition("Args:\n")
    if not title:
        return function
    arguments, _, others = sections.partition("\n\n")
    texts = dict(ARGUMENT.findall(arguments))
    for name, parameter in inspect.signature(function).parameters.items():
        text = texts.pop(name, None) or unpack(name, parameter.annotation)[1].help
        texts[name] = fill(f"    {name}: {text}", 116, subsequent_indent=" " * 8)
    function.__doc__ = about + title + "\n".join(texts.values()) + f"\n\n{others}".rstrip()
    return function


def unpack(name: str, annotation: Any) -> tuple[Any, Words]:
    """Return the type of a parameter without None and without words, and these, by default those of its name."""
    words = PARAMETERS.get(name, Words())
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *notes = get_args(annotation)
            words = notes[-1]
        elif get_origin(annotation) in (Union, UnionType):
            annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
        else:
            return annotation, words


def _folder(path: str) -> str:
    if not Path(path).is_dir():
        raise InputError(f"{path}: no such folder")
    return path


def _extent(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"{text!r}: expected whole numbers, such as 1024 or 64,16") from error


def _shell_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"{text!r}: expected a shell command line: {error}") from error


def parser(place: str) -> Callable[[str], Any]:
    """A function that makes a value from text, which is imported with the first text."""
    return lambda text: resolve_name(place)(text)  # noqa: PLW0108 - not before it is called


_LANGUAGES = "c|c++|opencl|cuda"
IN_PYTHON = Words(is_option=False)
_COMPILER = {
    "clang": Words("PATH"),
    "include_paths": Words("FOLDER", option=("-I", "--include"), parse=_folder),
    "defines": Words("NAME[=VALUE]", option=("-D", "--define")),
    "flags": Words("FLAG", option=("--flag",)),
    "optimization": Words("LEVEL", option=("-O",)),
    "language": Words(_LANGUAGES),
    "timeout_s": Words("SECONDS", option=("--timeout",)),
    "verify": Words(),
    "commands": Words("FILE", option=("--compile-commands",)),
    "cuda_path": Words("FOLDER", parse=_folder),
}
_A_NAME = "its name: a folder, or ORG/NAME on the Hugging Face hub"
_OF_EACH_SOURCE = ("clang", "optimization", "language", "timeout_s", "verify")

PARAMETERS: Mapping[str, Words] = {
    # inputs, and how they are read
    **dict.fromkeys(("source", "result", "results"), IN_PYTHON),
    "inputs": Words("INPUT...", "File, folder or glob, or - for standard input (IR, or source with --language)."),
    "options": Words(help="Compiler options; default: `ncc.CompileOptions()`.", fields=_COMPILER),
    "language": Words(
        _LANGUAGES,
        "Source language: c, c++, opencl or cuda; default: from the file extension.",
        parse=lambda name: CompileOptions(language=name).language,
    ),
    "jobs": Words("N", "Number of worker processes; a crash affects only its own input.", minimum=1),
    "as_json": Words(help="Print one JSON object per input, one per line.", option=("--json",)),
    "progress": Words(help="Called with lines of text.", is_option=False),
    "output": Words("FOLDER", "Output folder.", option=("-o", "--output"), is_required=True),
    **dict.fromkeys(("function", "gpu"), Words("NAME")),
    "top": Words("N", minimum=1),
    # models
    "embedding": Words("MODEL", f"Statement embedding, or {_A_NAME}; default: the shipped one."),
    "encoder": Words("MODEL", f"Encoder for encoder pooling, or {_A_NAME}; default: the shipped one."),
    "pooling": Words(
        "encoder|mean",
        'How to compute vectors of functions and modules: "encoder" (from code patterns) or "mean" (of the statement '
        "vectors); default: encoder, or mean if only an embedding is passed.",
    ),
    "head": Words("MODEL", f"Head, or {_A_NAME}; default: the shipped one."),
    "name": Words("NAME", "Dataset name, from 'ncc data list'."),
    # launches
    "grid": Words(
        "X[,Y,Z]", "Blocks in each dimension, such as 1024 or 64,16; default: as in host code.", parse=_extent
    ),
    "block": Words("X[,Y,Z]", "Threads per block, such as 256 or 16,16; default: as in host code.", parse=_extent),
    "arguments": Words("NAME=VALUE", "Values of kernel arguments, by name or by position from 0.", option=("--arg",)),
    "kernel": Words("NAME", "Kernel, by mangled or source name; default: all."),
    "program_args": Words("TEXT", parse=_shell_words),
    "plot": Words("FILE"),
    "transfer": Words("BYTES", parse=parser("ncc.system.files.text:parse_bytes")),
    "global_size": Words("N", parse=parser("ncc.system.files.text:parse_items")),
    # measuring
    **dict.fromkeys(("timeout", "measurement_time"), Words("SECONDS")),
    "budget": Words("MINUTES"),
    # training
    "corpora": Words("CORPUS..."),
    **dict.fromkeys(("programs", "folder"), Words("[FOLDER]")),
    "table": Words("[TABLE]"),
    "tables": Words("[TABLE]..."),
    "classes": Words("NAMES"),
    "clangs": Words("CLANG", option=("--with-clang",)),
    **dict.fromkeys(("recipe", "functions"), Words("RECIPE|FOLDER")),
    **dict.fromkeys(("functions_from", "refit", "ir", "sources", "cache"), Words("FOLDER")),
    "extend": Words("FOLDER|shipped"),
    "card": Words(help="Additional model card fields, such as the command.", is_option=False),
    "seed": Words(help="Random seed for folds and training."),
    "data": Words("FOLDER", "Dataset folder; default: NCC_DATA, then the cache."),
    "levels": Words(
        "LEVELS",
        "Optimization levels to compile programs at, such as '0,1,2'.",
        parse=parser("ncc.learning.programs.labelled:level_names"),
    ),
    "lr_scaling": Words("sqrt|linear|none"),
    "strategy": Words("mirrored|local"),
    "compression": Words("none|fp16|bf16"),
}
"""Parameters by name, which means the same in every verb; a verb's docstring or annotation replaces what differs.

A parameter with ``parse``, or for a model, has a quoted type: on the command line it is text.
"""

OutputFile = Annotated[Path, Words("FILE", option=("-o", "--output"))]
Count = Annotated[int, Words("N", minimum=1)]
TrainingDevice = Annotated[
    str, Words("cpu|cuda", "Device to train on, cpu or cuda; with torchrun, each rank uses its own GPU.")
]
CompilingPrograms = Annotated[
    CompileOptions, Words(fields={name: words for name, words in _COMPILER.items() if name != "optimization"})
]
CompilingCorpora = Annotated[
    CompileOptions, Words(fields={name: words for name, words in _COMPILER.items() if name not in _OF_EACH_SOURCE})
]
"""Options of the compiler for corpora and labelled programs, which say the others for themselves."""
