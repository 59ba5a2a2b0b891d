"""What all generators of synthetic programs share: programs put together from functions, loops in several styles."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from textwrap import indent
from typing import TypeAlias

__all__ = [
    "Function",
    "Generator",
    "LoopStyle",
    "Program",
    "assemble",
    "atom",
    "block",
    "instantiate",
    "random_style",
]


@dataclass(frozen=True)
class Program:
    """One source file: its extension, which tells the language, and its text."""

    extension: str
    text: str


Generator: TypeAlias = Callable[[Random], Program]


@dataclass(frozen=True, kw_only=True)
class Function:
    """One function of a program.

    Attributes:
        text: Its definition.
        needs: What the file must contain once before it: includes, macros, types.
    """

    text: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class LoopStyle:
    """How a function writes its loops: the counter's type and the loop's form, one of `FORMS`."""

    counter: str
    form: str

    def loop(self, variable: str, start: str, stop: str, body: str, step: int = 1) -> str:
        """Writes the loop over ``start <= variable < stop``."""
        declared = f"{self.counter} {variable} = {start}"
        increment = f"++{variable}" if step == 1 else f"{variable} += {step}"
        if self.form == "while":
            return block("", f"{declared};\n" + block(f"while ({variable} < {stop})", f"{body}\n{increment};"))
        if self.form == "down" and step == 1:
            return block(f"for ({self.counter} {variable} = {stop}; {variable}-- > {start};)", body)
        # A range that starts behind its end would never meet it.
        exact = self.form == "not equal" and step == 1 and start == "0"
        head = f"for ({declared}; {variable} {'!=' if exact else '<'} {stop}; {increment})"
        pragma = f"#pragma clang loop {self.form}\n" if "(" in self.form else ""
        return pragma + block(head, body)


FORMS = (*("less",) * 10, *("not equal", "while", "down") * 2, "unroll(disable)", "vectorize(disable)")


def random_style(rng: Random, *, signed: bool = False) -> LoopStyle:
    """Draws a loop style; a signed counter may be compared with negative numbers."""
    counters = ("int", "int", "long") + (() if signed else ("unsigned", "unsigned long"))
    return LoopStyle(rng.choice(counters), rng.choice(FORMS))


def block(head: str, body: str) -> str:
    """Puts a body into braces behind a head, which may be empty."""
    return f"{head} {{\n".lstrip() + indent(body.rstrip("\n"), "  ") + "\n}"


def atom(expression: str) -> str:
    """Puts an expression into parentheses unless it is a name or a number."""
    return expression if re.fullmatch(r"\w+", expression) else f"({expression})"


def instantiate(head: str, instances: Iterable[Mapping[str, str]]) -> str:
    """Writes explicit instantiations of a function template.

    Args:
        head: Return type, name and parameters, in terms of the template's parameters.
        instances: Template parameter → argument, each in the order of the template's own list.

    Returns:
        One declaration per instance.
    """
    lines = []
    for instance in instances:
        written = head
        for name, value in instance.items():
            written = re.sub(rf"\b{name}\b", value, written)
        arguments = ", ".join(instance.values())
        lines.append(f"template {written.replace('(', f'<{arguments}>(', 1)};")
    return "\n".join(lines)


def assemble(extension: str, functions: Iterable[Function]) -> Program:
    """Puts functions into a file, behind everything they need, each thing once."""
    functions = list(functions)
    needs = list(dict.fromkeys(need for function in functions for need in function.needs))
    # Includes come first: a macro of ours must not reach into a header.
    needs.sort(key=lambda need: not need.startswith("#include"))
    return Program(extension, "\n\n".join([*needs, *(function.text for function in functions)]) + "\n")
