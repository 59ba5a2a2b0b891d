"""Verbs as the command line sees them: words for their parameters, and parts of their answers."""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from ncc.errors import InputError, naming_extras
from ncc.ir.frontend.options import CompileOptions

_Loaded = TypeVar("_Loaded")
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, eq=False)
class Words:
    """How the command line writes a parameter, or not at all.

    Attributes:
        metavar: Name of a value in the help; an argument in brackets may be left out.
        help: Its text, unless a docstring has one.
        parse: Makes the value from text.
        minimum: Smallest number allowed.
        option: Names of the option, unless that of the parameter.
        fields: Fields of a dataclass that are options; None leaves the words of a field's own type.
        is_option: Whether the command line has it.
        is_argument: Whether it is written without a name, though it has a default.
        is_required: Whether the command line needs it, though it has a default.
    """

    metavar: str = ""
    help: str = ""
    parse: Callable[[str], Any] | None = None
    minimum: float | None = None
    option: tuple[str, ...] = ()
    fields: Mapping[str, "Words | None"] = field(default_factory=dict)
    is_option: bool = True
    is_argument: bool = False
    is_required: bool = False


@dataclass(frozen=True)
class Rows:
    """Rows of words: a table on a terminal, else lines in columns."""

    rows: Sequence[Sequence[str]]
    heading: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The output of a command.

    Attributes:
        text: For people: text, rows, or parts: summaries and what `rich` prints.
        json: For machines: an object, or one per line.
        failures: Messages about inputs that failed.
        is_failed: Whether the exit code is 1 without failures.
    """

    text: "str | Rows | Iterable[Any]" = ""
    json: Mapping[str, Any] | Sequence[Mapping[str, Any]] = ()
    failures: Sequence[str] = ()
    is_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class Each:
    """Work that a command does for each of its inputs; one that fails does not stop the others.

    Attributes:
        inputs: As the user gave them.
        work: Returns the fields of the JSON object, summaries for people, and with a ``sink`` the columns and
            vectors to add to it; a function of a module, or a partial of one.
        as_json: Print objects instead of text; one has ``warning`` where there is something to be warned of, and
            ``skipped_functions`` if some did not compile.
        fields: Names that an object has, as null, also where its input failed, beside those of every command.
        kernels: Skip C and C++ files of a folder that can't hold a kernel.
        jobs: Worker processes; one job is done in this one.
        compile_s: Time for the compilation of an input; a worker has more for the rest.
        sink: File that gets the vectors of all inputs, even if nobody reads the answers any more.
    """

    inputs: Sequence[str]
    work: Callable[[Any], Any]
    as_json: bool
    fields: Sequence[str] = ()
    kernels: bool = False
    jobs: int = 1
    compile_s: float = 0.0
    sink: "VectorFile | None" = None


@dataclass(frozen=True, kw_only=True)
class Command:
    """A verb as a command.

    Attributes:
        run: Takes the options that it names, and with ``**options`` those of ``api``.
        api: The public function that it calls, which documents the options that they share.
        show: Makes an answer of what ``run`` returns, unless that is one, or work over inputs.
        has_json: Whether ``--json`` prints the object of the answer.
        compiles: Whether it may run a compiler.
        resumes: Whether it resumes when it is run again.
        is_brief: Whether a message a second is enough.
    """

    run: Callable[..., Any]
    api: Callable[..., Any] | None = None
    show: Callable[[Any], Answer] | None = None
    has_json: bool = False
    compiles: bool = True
    resumes: bool = False
    is_brief: bool = False


def command(api: Callable[..., Any] | None = None, **settings: Any) -> Callable[[Callable[..., Any]], Command]:
    """Make a function a command; see `Command`."""
    return lambda run: Command(run=run, api=api, **settings)


def unpack(annotation: Any) -> tuple[Any, Words]:
    """Return a type without None and without words, and these."""
    words = Words()
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *notes = get_args(annotation)
            words = notes[-1]
        elif get_origin(annotation) in (Union, UnionType):
            annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
        else:
            return annotation, words


def defined_in(module: str) -> Callable[[_Function], _Function]:
    """Make a signature with a docstring call the function of its name in a module, which is imported at the call."""

    def decorate(declared: _Function) -> _Function:
        signature = inspect.signature(declared)

        @wraps(declared)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{declared.__name__}() {error}") from None
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                parse = unpack(signature.parameters[name].annotation)[1].parse
                if parse and isinstance(value, str):  # as it is written on the command line
                    bound.arguments[name] = parse(value)
            with naming_extras():
                return getattr(import_module(module), declared.__name__)(*bound.args, **bound.kwargs)

        return cast(_Function, call)

    return decorate


@lru_cache(maxsize=8)
def load_once(load: Callable[..., _Loaded], *arguments: Any) -> _Loaded:
    """The object that options name, read once by each process that works on inputs."""
    return load(*arguments)


def split_list(words: str) -> tuple[str, ...]:
    """From "a,b" to its parts, each once."""
    return tuple(dict.fromkeys(word.strip() for word in words.split(",")))


def _folder(path: str) -> str:
    if not Path(path).is_dir():
        raise InputError(f"{path}: no such folder")
    return path


def _language(name: str) -> str | None:
    return CompileOptions(language=name).language


def _bytes(text: str) -> float:
    from ncc.system.files.text import parse_bytes

    return parse_bytes(text)


def _items(text: str) -> float:
    from ncc.system.files.text import parse_items

    return parse_items(text)


_FOLDER = Words(metavar="FOLDER")
_PYTHON = Words(is_option=False)

Inputs = Annotated[
    list[str],
    Words(metavar="INPUT...", help="File, folder or glob, or - for standard input (IR, or source with --language)."),
]
Jobs = Annotated[
    int, Words(metavar="N", minimum=1, help="Number of worker processes; a crash affects only its own input.")
]
Json = Annotated[bool, Words(option=("--json",), help="Print one JSON object per input, one per line.")]
Plot = Annotated[Path, Words(metavar="FILE")]
OutputFile = Annotated[Path, Words(metavar="FILE", option=("-o", "--output"))]
Count = Annotated[int, Words(metavar="N", minimum=1)]
Seconds = Annotated[float, Words(metavar="SECONDS")]
Minutes = Annotated[float, Words(metavar="MINUTES")]
Name = Annotated[str, Words(metavar="NAME")]
Device = Annotated[str, Words(metavar="cpu|cuda")]
Level = Literal["module", "function", "statement"]
Language = Annotated[str, Words(metavar="c|c++|opencl|cuda", parse=_language)]

_COMPILER = {
    "clang": Words(metavar="PATH"),
    "include_paths": Words(metavar="FOLDER", option=("-I", "--include"), parse=_folder),
    "defines": Words(metavar="NAME[=VALUE]", option=("-D", "--define")),
    "flags": Words(metavar="FLAG", option=("--flag",)),
    "optimization": Words(metavar="LEVEL", option=("-O",)),
    "language": Words(metavar="c|c++|opencl|cuda"),
    "timeout_s": Words(metavar="SECONDS", option=("--timeout",)),
    "verify": Words(),
    "commands": Words(metavar="FILE", option=("--compile-commands",)),
    "cuda_path": Words(metavar="FOLDER", parse=_folder),
}
_OF_EACH_SOURCE = ("clang", "optimization", "language", "timeout_s", "verify")
Compiling = Annotated[CompileOptions, Words(fields=_COMPILER)]
PythonOptions = Annotated[CompileOptions, _PYTHON]
CompilingPrograms = Annotated[
    CompileOptions, Words(fields={name: words for name, words in _COMPILER.items() if name != "optimization"})
]
CompilingCorpora = Annotated[
    CompileOptions, Words(fields={name: words for name, words in _COMPILER.items() if name not in _OF_EACH_SOURCE})
]
"""Options of the compiler for corpora and labelled programs, which say the others for themselves."""

if TYPE_CHECKING:
    from ncc.learning.corpus.recipe import Recipe
    from ncc.learning.embedding.embedding import AnyEmbedding
    from ncc.learning.encoder.linear import LinearEncoder
    from ncc.learning.encoder.pooling import AnyEncoder, Pooler
    from ncc.system.files.tables import VectorFile
    from ncc.tasks.classification.head import ClassifierHead
    from ncc.tasks.coarsening.head import CoarseningHead
    from ncc.tasks.devices.predict import AnyHead
    from ncc.tasks.gpus.head import GpuHead

    Names = Sequence[str]
else:  # the command line knows their folders and files alone
    Recipe = AnyEmbedding = LinearEncoder = AnyEncoder = Pooler = Path
    ClassifierHead = CoarseningHead = AnyHead = GpuHead = Path
    Names = Annotated[Any, Words(metavar="LEVELS", parse=split_list)]

PathLike = str | os.PathLike[str]
Source = Annotated[PathLike | bytes, _PYTHON]
EmbeddingLike = Annotated[AnyEmbedding, _FOLDER]
EncoderLike = Annotated[AnyEncoder, _FOLDER]
LinearEncoderLike = Annotated[LinearEncoder | str | Path, _FOLDER]
PoolingLike = Annotated[str | Pooler, Words(metavar="encoder|mean")]
DeviceHeadLike = Annotated[AnyHead, _FOLDER]
CoarseningHeadLike = Annotated[CoarseningHead | PathLike, _FOLDER]
GpuHeadLike = Annotated[GpuHead | PathLike, _FOLDER]
ClassifierLike = Annotated[ClassifierHead | str | Path, _FOLDER]
RecipeLike = Annotated[Recipe | str | Path, Words(metavar="RECIPE|FOLDER")]
Output = Annotated[Path | str, Words(metavar="FOLDER", option=("-o", "--output"), is_required=True)]
Folder = Annotated[Path | str, _FOLDER]
DataFolder = Annotated[str, _FOLDER]
Bytes = Annotated[float | str, Words(metavar="BYTES", parse=_bytes)]
Items = Annotated[float | str, Words(metavar="N", parse=_items)]
Progress = Annotated[Callable[[str], None], _PYTHON]
Card = Annotated[dict[str, Any], _PYTHON]
