"""Click commands made from functions: signatures are options, types say how values are written, docstrings are help."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

from ncc.cli.printing import print_answer
from ncc.errors import InputError
from ncc.verbs.types import ARGUMENT, Command, Words, unpack

_METAVARS = {int: "N", float: "X", str: "TEXT", Path: "FILE"}
_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Reference|Examples):", re.M)


def read_docstring(function: Any) -> tuple[str, dict[str, str]]:
    """Return the text before the sections of a docstring, and the text of each argument."""
    about, *sections = _SECTION.split(inspect.getdoc(function) or "")
    texts: dict[str, str] = {}
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        if title in ("Args", "Attributes"):
            texts |= {name: " ".join(text.replace("`", "").split()) for name, text in ARGUMENT.findall(body)}
    return about.strip(), texts


@dataclass(frozen=True)
class _Parameter:
    """A parameter of a command; ``key`` is its name, after that of its dataclass and a dot if it is a field."""

    key: str
    annotation: Any
    default: Any
    text: str
    is_positional: bool = False
    words: Words | None = None

    def to_click(self) -> click.Parameter:
        """Make the argument or option."""
        name = self.key.rpartition(".")[2]
        kind, words = unpack(name, self.annotation)
        words = self.words or words
        is_many, length, kind = _items(kind)
        settings: dict[str, Any] = {
            "type": _click_type(kind, words),
            "metavar": words.metavar or "|".join(get_args(kind)) or _METAVARS.get(kind),
            "required": (self.default is inspect.Parameter.empty or words.is_required) and words.metavar[:1] != "[",
        }
        if self.default not in (inspect.Parameter.empty, None):
            settings["default"] = self.default
        variable = self.key.replace(".", "__")
        text = self.text or words.help
        if (self.is_positional and not words.option) or words.metavar[:1] == "[":
            metavar = re.sub(r"[][]", "", settings["metavar"] or variable)
            settings |= {"nargs": -1 if is_many else 1, "metavar": metavar if settings["required"] else f"[{metavar}]"}
            return click.Argument([variable], help=text, **settings)
        names = words.option or (f"--{name.replace('_', '-')}",)
        if kind is bool:
            del settings["metavar"], settings["type"]
            settings["is_flag"] = True
            if self.default is not False:
                names = (f"{names[0]}/--no-{names[0].removeprefix('--')}",)
        settings |= {"nargs": length} if length > 1 else {"multiple": is_many}
        shows_default = self.default not in (None, False, (), "") and not settings["required"]
        return click.Option([*names, variable], help=text, show_default=shows_default, **settings)


def _items(kind: Any) -> tuple[bool, int, Any]:
    """Return whether values are several, how many belong to one use of the option, and their type."""
    inner = get_args(kind)
    if get_origin(kind) is tuple and Ellipsis not in inner:
        return False, len(inner), inner[0]
    if get_origin(kind) in (list, tuple, Sequence, Mapping):
        return True, 1, inner[0]
    return False, 1, kind


def _click_type(kind: Any, words: Words) -> click.ParamType[Any] | None:
    if words.parse:
        return _Parsed(words.parse)
    if get_origin(kind) is Literal:
        return _Choice(get_args(kind))
    if words.minimum is not None:
        return click.IntRange(min=int(words.minimum))
    if kind is Path:
        return click.Path(path_type=Path)
    return click.types.convert_type(kind) if kind in (int, float, str, bool) else click.STRING


class _Choice(click.Choice[str]):
    """One of some words; a wrong one is refused with what the option is for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            about = getattr(param, "help", None) or ""
            raise click.BadParameter(f"{error.message} {about}".strip(), ctx, param) from None


class _Parsed(click.ParamType[Any]):
    """Values that a function makes from text, with its own messages."""

    name = "text"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """Make the value; a default is one already."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except InputError as error:
            raise InputError(f"{param.opts[0]}: {error}" if param else str(error)) from error


class _Command(click.Command):
    """A command whose help shows the compiler's options apart from its own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in two sections."""
        own: list[tuple[str, str]] = []
        compiling: list[tuple[str, str]] = []
        for parameter in self.params:
            row = parameter.get_help_record(ctx)
            if row and isinstance(parameter, click.Option):
                (compiling if str(parameter.name).startswith("options__") else own).append(row)
        for title, rows in (("Options", own), ("Compiler options", compiling)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def make_command(name: str, command: Command, invoke: Callable[..., None]) -> click.Command:
    """Make the click command of a verb, which calls ``invoke`` with the arguments of its function by name."""
    about, texts = read_docstring(command.run)
    if command.api:
        api_about, api_texts = read_docstring(command.api)
        about, texts = about or api_about, api_texts | texts
    parameters, configs = _parameters(command, texts)

    def callback(**values: Any) -> None:
        parts: dict[str, dict[str, Any]] = {config: {} for config in configs}
        arguments: dict[str, Any] = {}
        for parameter in parameters:
            config, _, part = parameter.key.rpartition(".")
            value = values[parameter.key.replace(".", "__")]
            value = None if value == () and parameter.default is None else value
            (parts[config] if config else arguments)[part] = value
        invoke(**arguments, **{config: make(**parts[config]) for config, make in configs.items()})

    options = [*(parameter.to_click() for parameter in parameters), help_option()]
    return _Command(name, params=options, callback=callback, help=about, add_help_option=False)


def help_option() -> click.Option:
    """Make ``--help``."""
    return eager_option("--help", "Show this message and exit.", click.Context.get_help, "-h")


def eager_option(name: str, text: str, tell: Callable[[click.Context], str], *more: str) -> click.Option:
    """Make an option that prints something and ends the command, however else that is called."""

    def show(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
        if is_given and not ctx.resilient_parsing:
            print_answer(tell(ctx))
            ctx.exit()

    return click.Option([*more, name], is_flag=True, is_eager=True, expose_value=False, callback=show, help=text)


def _parameters(command: Command, texts: dict[str, str]) -> tuple[list[_Parameter], dict[str, Callable[..., Any]]]:
    """The parameters of a command, and the dataclasses that some of them are fields of."""
    declared = command.parameters
    found: list[_Parameter] = []
    configs: dict[str, Callable[..., Any]] = {}
    for name, parameter in declared.items():
        kind, words = unpack(name, parameter.annotation)
        parts = words.fields or (dict.fromkeys(each.name for each in fields(kind)) if is_dataclass(kind) else {})
        if words.is_option and parts:
            configs[name] = kind
            defaults, types, field_texts = parameter.default or kind(), dict[str, Any](), dict[str, str]()
            for base in reversed(kind.__mro__[:-1]):
                types |= inspect.get_annotations(base)  # quoted ones are text on the command line
                field_texts |= read_docstring(base)[1]
            found += [
                _Parameter(f"{name}.{part}", types[part], getattr(defaults, part), field_texts[part], words=how)
                for part, how in parts.items()
                if part not in declared
            ]
        elif words.is_option:
            is_positional = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
            text = texts.get(name, "")
            found.append(_Parameter(name, parameter.annotation, parameter.default, text, is_positional))
    if command.has_json:
        words = Words(option=("--json",), help="Print the answer as JSON.")
        found.append(_Parameter("as_json", bool, False, "", words=words))
    if command.compiles:
        text = "Refuse to compile if nothing confines the compiler."
        found.append(_Parameter("require_confinement", bool, False, text))
    return found, configs
