"""Statements as the reader abstracts them: small modules with what is kept of each beside them, and bounds of text."""

import ast

import pytest

from ncc.errors import InputError
from tests.rooms import Abstraction, Module, read_module
from tests.support.refuses import refuses
from tests.support.text import cases


def read_body(lines: str, abstraction: Abstraction | None = None) -> list[str]:
    """Statements of a function that holds the indented lines; the others stand before it."""
    body = "".join(f"{line}\n" for line in lines.splitlines() if line.startswith("  ") or line.endswith(":"))
    before = "".join(f"{line}\n" for line in lines.splitlines() if f"{line}\n" not in body)
    head = "define void @f(ptr %p, i32 %n, i64 %m, <4 x float> %v) {"
    module = read_module(f"{before}{head}\n{body}  ret void\n}}\n".encode(), abstraction=abstraction)
    assert module.read_via == "direct"
    return texts_of(module)[1:-1]


def texts_of(module: Module) -> list[str]:
    return [module.statement_text(statement) for statement in range(module.num_statements)]


def abstraction_of(options: str) -> Abstraction:
    pairs = (option.split("=") for option in options.split())
    return Abstraction.paper() if options == "paper" else Abstraction(**{n: ast.literal_eval(v) for n, v in pairs})


@pytest.mark.parametrize(("ir", "expected"), cases("statements.txt"))
def test_statements(ir: str, expected: str) -> None:
    options, _, rest = ir.partition("\n") if ir.startswith("; ") else ("", "", ir)
    abstraction = abstraction_of(options.removeprefix("; "))
    is_whole = "define" in rest
    found = texts_of(read_module(rest.encode(), abstraction=abstraction)) if is_whole else read_body(rest, abstraction)
    assert found == expected.splitlines()


def test_the_text_of_nested_structures_is_bounded() -> None:
    types = "".join(f"%s{i} = type {{ %s{i + 1}, %s{i + 1} }}\n" for i in range(64)) + "%s64 = type { i32 }\n"
    assert read_body(f"{types}  %x = alloca %s0") == ["<%ID> = alloca {...}"]
    (text,) = read_body(f"{types}  %x = alloca %s0", Abstraction(max_struct_fields=None))
    assert text.startswith("<%ID> = alloca { {")
    assert "{...}" in text
    assert len(text) < 5000


@pytest.mark.parametrize("limit", [4, 10_000_000, None])
def test_a_structure_of_very_many_elements_is_cut_named_or_not(limit: int | None) -> None:
    abstraction, cut = Abstraction(max_struct_fields=limit), ["<%ID> = alloca {...}"]
    elements, few, copies = (", ".join(each) for each in (["i32"] * 5000, ["i32"] * 600, ["%t"] * 200_000))
    assert read_body(f"%s = type {{ {elements} }}\n  %x = alloca %s", abstraction) == cut
    assert read_body(f"  %x = alloca {{ {elements} }}", abstraction) == cut
    # a megabyte of copies of a long structure does not become a gigabyte
    assert read_body(f"%s = type {{ {copies} }}\n%t = type {{ {few} }}\n  %x = alloca %s", abstraction) == cut


def test_a_long_chain_of_structures_is_read_through_pointers() -> None:
    types = "".join(f"%s{i} = type {{ i32, %s{i + 1}* }}\n" for i in range(1000)) + "%s1000 = type { i32 }\n"
    assert read_body(f"{types}  %x = alloca %s0") == ["<%ID> = alloca { i32, ptr }"]


def test_a_negative_limit_is_refused() -> None:
    with refuses(InputError, "max_struct_fields", "-1"):
        Abstraction(max_struct_fields=-1)
