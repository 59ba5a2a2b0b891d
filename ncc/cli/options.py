"""Options that several commands share: names, help and types, among them the compiler's."""

import inspect
from collections.abc import Callable, Collection
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.errors import InputError

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...", help="File, folder, glob, or - for IR (with --language: source) on standard input."
    ),
]
InputJobs = Annotated[
    int,
    typer.Option("--jobs", min=1, metavar="N", help="Worker processes; an input that crashes one fails alone."),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per input and line on stdout.")]
OneJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]

EmbeddingFolder = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Embedding to use; default: the shipped one.")
]
EncoderFolder = Annotated[
    Path | None,
    typer.Option("--encoder", metavar="FOLDER", help="Encoder for --pooling encoder; default: the shipped one."),
]
PoolingName = Annotated[
    str | None,
    typer.Option(
        "--pooling",
        metavar="encoder|mean",
        help="How a function's or module's vector is made; default: encoder, or mean with an embedding of your own.",
    ),
]
HeadFolder = Annotated[
    Path | None, typer.Option("--head", metavar="FOLDER", help="Head made by ncc train; default: the shipped one.")
]
DataFolder = Annotated[
    str | None,
    typer.Option("--data", metavar="FOLDER", help="Folder of the datasets; default: NCC_DATA, then the cache."),
]
ProgramFolder = Annotated[
    Path | None,
    typer.Argument(metavar="FOLDER", help="Folder with a sub-folder of programs for each class; default: POJ-104."),
]
Levels = Annotated[
    str, typer.Option(metavar="LEVELS", help="Optimisation levels to compile programs at, such as '0,1,2'.")
]
ProgramsCache = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where to cache parsed programs; default: the user's cache.")
]

Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Dask scheduler to use instead; its workers must see the files."
    ),
]

# of commands that train
OutputFolder = Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="Folder for the result.")]
TorchDevice = Annotated[
    str, typer.Option(metavar="cpu|cuda", help="Device to train on; under torchrun each rank uses its own GPU.")
]

# of commands that measure
ResultFile = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write the figures as JSON.")
]
ReportFile = Annotated[Path | None, typer.Option("--report", metavar="FILE.html", help="Write a report with pictures.")]
NumSeeds = Annotated[int, typer.Option(min=1, help="Number of runs, with successive seeds from --seed.")]
Trees = Annotated[int, typer.Option(min=1, help="Trees in the controls' forests.")]
Jobs = Annotated[int, typer.Option(min=1, help="Folds to run in parallel, each with one thread.")]
Compilers = Annotated[int, typer.Option(min=1, help="Files to compile in parallel.")]
RunsFolder = Annotated[
    Path | None,
    typer.Option("--cache", metavar="FOLDER", help="Where to cache results of folds; default: the user's cache."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Run every fold, without the cache.")]

SOURCES_AS_THEY_ARE = ("clang", "optimization", "language", "timeout", "verify")
"""Options of the compiler that are not for a corpus or labelled programs, which say them for themselves."""

_Clang = Annotated[
    str | None, typer.Option("--clang", metavar="PATH", help="Compiler; default: NCC_CLANG, then the bundled clang.")
]
_Folders = Annotated[list[str] | None, typer.Option("-I", "--include", metavar="FOLDER", help="Header search path.")]
_Macros = Annotated[list[str] | None, typer.Option("-D", "--define", metavar="NAME[=VALUE]", help="Macro.")]
_Flags = Annotated[list[str] | None, typer.Option("--flag", metavar="FLAG", help="Additional compiler flag.")]
_Level = Annotated[str, typer.Option("-O", metavar="LEVEL", help="Optimisation level: 0 1 2 3 s z fast.")]
_Language = Annotated[
    str | None,
    typer.Option("--language", metavar="c|c++|opencl|cuda", help="Source language; default: by the file's extension."),
]
_Verify = Annotated[bool, typer.Option("--verify", help="Check IR inputs with LLVM's verifier.")]
_Commands = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A compile_commands.json with the flags of the files that it lists."),
]
_CudaPath = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="CUDA toolkit for headers that ncc lacks; default: NCC_CUDA_PATH, then NVIDIA's wheels."
    ),
]
_Seconds = Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="Time limit for each compilation.")]


def _compile_options(
    clang: _Clang = None,
    include: _Folders = None,
    define: _Macros = None,
    flag: _Flags = None,
    optimization: _Level = "1",
    language: _Language = None,
    timeout: _Seconds = 60.0,
    verify: _Verify = False,
    compile_commands: _Commands = None,
    cuda_path: _CudaPath = None,
) -> Any:
    """The options of the compiler from a command's arguments."""
    from ncc.ir.frontend.options import CompileOptions

    for option, folders in (("-I", include or ()), ("--cuda-path", (cuda_path,) if cuda_path else ())):
        for folder in folders:
            if not Path(folder).is_dir():
                raise InputError(f"{option} {folder}: there is no such folder")
    return CompileOptions(
        clang=clang,
        include_paths=tuple(include or ()),
        defines=tuple(define or ()),
        flags=tuple(flag or ()),
        optimization=optimization,
        language=language,
        timeout_s=timeout,
        verify=verify,
        cuda_path=cuda_path,
        commands=None if compile_commands is None else str(compile_commands),
    )


def takes_compile_options(*, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the options of the compiler; it takes them as one `CompileOptions`, named ``options``."""
    return takes_options(_compile_options, "options", without=without)


def takes_options(
    make: Callable[..., Any], name: str, *, without: Collection[str] = (), **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command options that go together; it takes what is made of them as one argument.

    Args:
        make: Takes the options.
        name: Of the argument.
        without: Those of the options that the command does not have.
        defaults: Those of the options that the command has others of.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        together = [
            one.replace(default=defaults.get(one.name, one.default), kind=inspect.Parameter.KEYWORD_ONLY)
            for one in inspect.signature(make).parameters.values()
            if one.name not in without
        ]
        own = inspect.signature(command)
        parameters = [one for one in own.parameters.values() if one.name != name] + together

        @wraps(command)
        def run(**arguments: Any) -> None:
            given = {one.name: arguments.pop(one.name) for one in together}
            command(**arguments, **{name: make(**given)})

        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def may_require_confinement(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command that compiles the option to refuse that where compilers can't be confined."""
    own = inspect.signature(command)
    option = Annotated[
        bool, typer.Option("--require-confinement", help="Refuse to compile if nothing confines the compiler.")
    ]
    parameter = inspect.Parameter(
        "require_confinement", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=option
    )

    @wraps(command)
    def run(*, require_confinement: bool, **arguments: Any) -> None:
        from ncc.system.sandbox import confine as confinement

        with confinement.require_confinement() if require_confinement else nullcontext():
            command(**arguments)

    run.__signature__ = own.replace(parameters=[*own.parameters.values(), parameter])  # type: ignore[attr-defined]
    run.__annotations__ = command.__annotations__ | {parameter.name: option}
    return run


def arguments_of(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a verb from a command's options, of the same names, without what says where figures go."""
    figures = {"report", "output", "as_json"} if "as_json" in options else {"study"}
    return {name: value for name, value in options.items() if name not in figures}


def split_list(words: str) -> tuple[str, ...]:
    """From "a,b" to its parts, each once."""
    return tuple(dict.fromkeys(word.strip() for word in words.split(",")))
