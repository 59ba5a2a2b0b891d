"""The ``ncc`` command: which verbs there are, and how one ends.

Data goes to stdout, messages and progress to stderr. Exit codes: 0 fine, 1 some input failed, 2 wrong usage, 130
interrupted.
"""

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, cast

import click

import ncc
from ncc.cli.command import eager_option, help_option, make_command
from ncc.cli.each import answer_each
from ncc.cli.printing import (
    exit_with_error,
    print_answer,
    print_message,
    print_progress,
    print_text,
    print_traceback,
    standard_streams,
    without_command,
)
from ncc.errors import InputError, InputFileError, NccError, naming_extras
from ncc.verbs.types import Answer, Command, load_command

SECTIONS = {
    "Answer": {
        "predict-device": "ncc.verbs.predict:predict_device_command",
        "predict-coarsening": "ncc.verbs.predict:predict_coarsening",
        "predict-gpu": "ncc.verbs.predict:predict_gpu_command",
        "profile": "ncc.verbs.predict:profile_command",
        "classify": "ncc.verbs.predict:classify",
    },
    "Vectors and search": {
        "embed": "ncc.verbs.embed:embed_command",
        "graph": "ncc.verbs.embed:graph_command",
        "index": "ncc.verbs.search:index",
        "search": "ncc.verbs.search:search_command",
        "explore": "ncc.verbs.explore:explore_command",
    },
    "Your machine": {
        "devices": "ncc.verbs.measure:devices_command",
        "measure": "ncc.verbs.measure:measure_kernels",
        "calibrate": "ncc.verbs.measure:calibrate",
        "info": "ncc.verbs.info:info_command",
    },
    "Train": {
        "corpus build": "ncc.verbs.train:build_corpus",
        "train embedding": "ncc.verbs.train:train_embedding",
        "train encoder": "ncc.verbs.train:train_encoder",
        "train devmap": "ncc.verbs.train:train_devmap",
        "train coarsening": "ncc.verbs.train:train_coarsening",
        "train gpu": "ncc.verbs.train:train_gpu",
        "train classify": "ncc.verbs.train:train_classifier",
        "data list": "ncc.verbs.info:data_list_command",
        "data fetch": "ncc.verbs.info:data_fetch_command",
        "data verify": "ncc.verbs.info:data_verify_command",
    },
}
"""Commands by what people want, and where each is defined."""
VERBS = {name: place for verbs in SECTIONS.values() for name, place in verbs.items()}

_GROUPS = {
    "corpus": "Build corpora of co-occurrence counts.",
    "train": "Train embeddings and heads.",
    "data": "List, fetch and verify datasets.",
}
_LAB = {"bench": "ncc_lab.cli:bench", "evaluate": "ncc_lab.cli:evaluate"}
_INTERRUPTED = 130
_VERSION = eager_option("--version", "Show the version and exit.", lambda _: f"ncc {ncc.__version__}")


class VerbGroup(click.Group):
    """Commands that are imported on first use, each from the place where its `Command` is defined."""

    def __init__(self, name: str, verbs: dict[str, str], about: str) -> None:
        super().__init__(name, help=about, params=[help_option()], add_help_option=False)
        self.verbs = verbs

    def sections(self) -> Mapping[str, Sequence[str]]:
        """Names of commands by the heading above them in the help."""
        return {"Commands": [*self.verbs]}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of the commands, in the order of the help."""
        return [name for names in self.sections().values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a name."""
        if cmd_name not in self.commands and cmd_name in self.verbs:
            command = load_command(self.verbs[cmd_name])
            self.add_command(make_command(cmd_name, command, partial(run_verb, command)), cmd_name)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections().items():
            commands = [(name.ljust(width), self.get_command(ctx, name)) for name in names]
            rows = [(name, command.get_short_help_str(2 * formatter.width)) for name, command in commands if command]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of the first word; a similar name is suggested for an unknown one."""
        if not self.get_command(ctx, args[0]) and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self.list_commands(ctx), ctx=ctx)
        return super().resolve_command(ctx, args)


class _TopGroup(VerbGroup):
    """All verbs, those of the lab among them if it is installed."""

    def __init__(self) -> None:
        super().__init__(
            "ncc",
            {name: place for name, place in VERBS.items() if " " not in name},
            "Neural code comprehension for LLVM IR: vectors, graphs and performance predictions from code.",
        )
        self.context_settings = {"max_content_width": 100}
        for name, about in _GROUPS.items():
            verbs = {verb.partition(" ")[2]: place for verb, place in VERBS.items() if verb.startswith(f"{name} ")}
            self.add_command(VerbGroup(name, verbs, about))
        self.params.insert(0, _VERSION)

    def sections(self) -> Mapping[str, Sequence[str]]:
        """Names of verbs by what people want, those of the lab last."""
        sections = {title: [*dict.fromkeys(name.split()[0] for name in verbs)] for title, verbs in SECTIONS.items()}
        return sections | {"Evaluate": _lab_verbs()}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of a name, loaded if it is the lab's."""
        if cmd_name in _lab_verbs():
            return cast(click.Command, resolve_name(_LAB[cmd_name]))
        return super().get_command(ctx, cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take ``help VERB`` for ``VERB --help``."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The verb of the first word."""
        if args[0] in _LAB and not _lab_verbs():
            exit_with_error(f"ncc {args[0]} is part of ncc-lab; in a checkout of ncc: pip install -e lab", code=2)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named; an `NccError` is a message and exit code 1, or 2 for wrong usage."""
        try:
            with naming_extras():
                return super().invoke(ctx)
        except NccError as error:
            is_usage = isinstance(error, InputError) and not isinstance(error, InputFileError)
            exit_with_error(without_command(str(error)), code=2 if is_usage else 1)


def _lab_verbs() -> list[str]:
    return [*_LAB] if find_spec("ncc_lab") else []


def run_verb(command: Command, *, as_json: bool = False, require_confinement: bool = False, **arguments: Any) -> None:
    """Call the function of a command, and print what it answers."""
    from ncc.system.sandbox import confine

    needed = command.parameters
    if not command.has_json and "as_json" in needed:
        arguments["as_json"] = as_json
    if "progress" in needed:
        arguments["progress"] = print_progress(1.0 if command.is_brief else 0.0)
    if "card" in needed:
        from ncc.system.files.text import command_line

        arguments["card"] = {"command": command_line()}
    try:
        with confine.require_confinement() if require_confinement else nullcontext():
            if command.per_input:
                answer_each(command, **arguments)
                return
            result = command.run(**arguments)
            answer = command.show(result) if command.show else result
            if answer:
                _print(answer, as_json)
    except KeyboardInterrupt:
        hint = "; run the same command again to resume" if command.resumes else ""
        exit_with_error(f"interrupted{hint}", code=_INTERRUPTED)


def _print(answer: Answer, as_json: bool) -> None:
    for reason in answer.failures:
        print_message(f"ncc: {without_command(reason)}")
    if as_json:
        for row in [answer.json] if isinstance(answer.json, Mapping) else answer.json:
            print_answer(row)
    elif answer.text:
        print_text(answer.text)
    if answer.failures or answer.is_failed:
        raise click.exceptions.Exit(1)


@contextmanager
def report_crashes() -> Iterator[None]:
    """Tell an exception that nobody planned for, a defect of ncc with its traceback, and end with exit code 1."""
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception as error:
        from ncc.system.workers.failures import is_defect, summarize_failure

        if is_defect(error):
            print_traceback(error)
        print_message(f"ncc: {summarize_failure('this command', error)}")
        sys.exit(1)


app = _TopGroup()


def main() -> None:
    """Run the command line."""
    try:
        with standard_streams(), report_crashes():
            app()
    finally:
        gc.freeze()  # the interpreter's end would look through all that was imported for cycles: a sixth of ncc embed
