"""Constants and outside names of statements: what is one, what is none, and what a compiler's rewriting keeps."""

import random
import re
import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.rooms import CompileOptions, Module, compile_source, find_literals, read_module, statement_literals
from tests.support.text import rows

ROOT = Path(__file__).parents[3]
SOURCES, KERNELS = ROOT / "benchmarks" / "sources", ROOT / "ncc" / "kernels" / "measure" / "kernels"
TYPES = '%struct.node.12 = type { i32 }\n%"class.std::__1::vector 3" = type { ptr }\n'
ARGUMENTS = 'ptr %p, i32 %n, double %x, i64 %n.17.i, half %"h 5", ptr %11, i1 %c, <4 x i32> %v'


def _hashes(*texts):
    """Classifiers that were trained know literals by these very numbers."""
    return [zlib.crc32(text.encode()) for text in texts]


def _of(module: Module) -> list[list[int]]:
    """Literals of each statement."""
    start, literal = statement_literals(module, np.arange(module.num_statements, dtype=np.int32))
    return [literal[one:two].tolist() for one, two in pairwise(start.tolist())]


def _literals(line: str, before: str = "") -> list[int]:
    """Literals of one statement of a function."""
    text = (
        f"{TYPES}{before}\ndefine void @f({ARGUMENTS}) {{\nentry:\n  br label %body\nbody:\n  {line}\n  ret void\n}}\n"
    )
    module = read_module(text.encode())
    assert module.read_via == "direct"
    *_, before_it, found, end = _of(module)
    assert before_it == end == []
    return found


@pytest.mark.parametrize(("before", "line", "literals"), rows("literals.txt"))
def test_literals_of_a_statement(before, line, literals):
    expected = [literal.replace("\\n", "\n").replace("<nothing>", "") for literal in literals.split(" | ") if literals]
    assert _literals(line, before) == _hashes(*expected)


def test_a_string_and_a_number_of_the_same_characters_differ():
    string = _literals("%r = load i8, ptr @s", r'@s = constant [3 x i8] c"12\00"')
    number = _literals("%r = add i32 %n, 12")
    name = _literals("%r = load i8, ptr @12", "@12 = external global i8")
    assert [len(found) for found in (string, number, name)] == [2, 1, 1]
    assert len({*string, *number, *name}) == 4


@pytest.mark.parametrize("function", ["declare void {}(ptr)", "define linkonce_odr void {}(ptr %0) {{\n  ret void\n}}"])
def test_names_of_the_library_count_whether_it_is_defined_here_or_not(function):
    name = "@_ZNSt6vectorIiSaIiEE9push_backERKi"
    text = f"define void @f(ptr %p) {{\n  call void {name}(ptr %p)\n  ret void\n}}\n{function.format(name)}\n"
    header, call, end, *_ = _of(read_module(text.encode()))
    assert header == end == []
    assert len(call) == 1
    other = "@_ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backB9nie220108ERKi"
    assert call == _literals(f"call void {other}(ptr %p)", f"declare void {other}(ptr)")


def test_offsets_are_those_of_the_statements_that_were_asked_for():
    text = """declare i32 @puts(ptr)
@s = constant [2 x i8] c"x\\00"
define i32 @f(i32 %n, i1 %t) {
  %a = add i32 %n, 1
  %b = mul i32 %a, %n
  %c = call i32 @puts(ptr @s)
  %d = select i1 %t, i32 2, i32 3
  ret i32 1
}
"""
    module = read_module(text.encode())
    everything = [[], *(_hashes(*texts) for texts in (["number 1"], [], ["name puts", "string x", "piece x"]))]
    everything += [_hashes("number 2", "number 3"), _hashes("number 1")]
    assert _of(module) == everything
    for chosen in ([], [0], [5, 1], [3, 3, 2], [4, 0, 3]):
        start, literal = statement_literals(module, np.array(chosen, np.int32))
        assert (start.dtype, literal.dtype) == (np.dtype(np.int32), np.dtype(np.uint32))
        assert start.tolist() == np.cumsum([0, *(len(everything[number]) for number in chosen)]).tolist()
        assert literal.tolist() == [value for number in chosen for value in everything[number]]


def test_literals_of_a_program_outlive_optimization():
    text = b"""#include <stdio.h>
    extern void out(const char *, int, double);
    int global = 3;
    static int twice(int n) { return n * 12345; }
    int f(int n, double x) { out("seven %d\\n", twice(n + global) - 77, x * 2.5); return -9; }
    """
    numbers = ("12345", "-77", "2.500000e+00", "-9")
    texts = ("name out", *(f"number {text}" for text in numbers), "string seven %d", "piece seven", "piece %d")
    for level in ("-O1", "-O2", "-O3"):
        module = read_module(compile_source(text, CompileOptions(language="c", optimization=level)).ir)
        found = {value for values in _of(module) for value in values}
        assert found == set(_hashes(*texts))


def test_cases_of_a_switch():
    text = b"define void @f(i32 %n) {\nentry:\n  switch i32 %n, label %d [\n"
    text += b"    i32 5, label %a\n    i32 77, label %d\n  ]\n"
    text += b"a:\n  br label %d\nd:\n  ret void\n}\n"
    assert _of(read_module(text))[1] == _hashes("number 5", "number 77")


@pytest.mark.parametrize(
    "text",
    [
        b"define void @f(ptr writeonly captures(none) initializes((0, 4), (8, 16)) %0) {\n  ret void\n}\n",
        b"define range(i32 -5, 6) i32 @f() {\n  ret i32 undef\n}\n",
        b"define void @f(ptr addrspace(1) %0) {\n  ret void\n}\n",
        b"define void @f(ptr %0) alignstack(16) {\n  ret void\n}\n",
        b"@v = external global i8\ndefine void @f(ptr %0) {\n"
        b"  store ptr getelementptr inrange(-16, 8) (i8, ptr @v), ptr %0\n  ret void\n}\n",
    ],
)
def test_attributes_are_no_literals(text):
    assert {value for part in _of(read_module(text)) for value in part} <= set(_hashes("name v"))


@pytest.mark.parametrize("number", ["0xK3FFFA000000000000000", "0xH3C00", "0xL00000000000000003FFF000000000000"])
def test_numbers_of_other_widths(number):
    kind = {"K": "x86_fp80", "H": "half", "L": "fp128"}[number[2]]
    assert len(_of(read_module(f"define {kind} @f() {{\n  ret {kind} {number}\n}}\n".encode()))[1]) == 1


TOKEN = re.compile(
    r"""
    %"[^"]*" | %[\w.$-]+ | [!\#][\w.]*                      # locals and types, metadata, groups of attributes
    | \balign\ \d+                                          # what the compiler knows of pointers and numbers
    | \b(?:align|alignstack|addrspace|captures|dereferenceable|dereferenceable_or_null|initializes|inrange|memory
        |nofpclass|range|allocsize|vscale_range)\((?:[^()]|\([^()]*\))*\)
    | (@(?:"[^"]*"|[\w.$-]+))
    | (?<![\w.])(-?\d+\.\d+(?:e[+-]?\d+)?|0x[HKLMR]?[0-9A-F]+|-?\d+)(?![\w.:])
    """,
    re.VERBOSE | re.ASCII,
)
"""What a literal is; encoders and classifiers were trained on what this finds."""


def _by_expression(statement: str) -> list[str]:
    return [name or number for name, number in TOKEN.findall(statement) if name or number]


def _by_reader(text: bytes, at: list[int]) -> list[list[str]]:
    stop, token, texts = find_literals(text, np.array(at, np.uint32))
    found = [texts[number].decode() for number in token.tolist()]
    return [found[one:two] for one, two in pairwise([0, *stop.tolist()])]


@pytest.mark.parametrize("level", [pytest.param("-O0", marks=pytest.mark.full), "-O2"])
def test_the_readers_literals_are_those_of_the_expression(level):
    num_functions = 0
    library = b"#define SIZE 2\n" + (SOURCES / "library.cpp").read_bytes()
    for source, language in (
        (library, "c++"),
        *((path.read_bytes(), "opencl") for path in sorted(KERNELS.glob("*.cl"))[::4]),
    ):
        module = read_module(compile_source(source, CompileOptions(language=language, optimization=level)).ir)
        expected = [_by_expression(module.statement_source(number)) for number in range(module.num_statements)]
        assert _by_reader(module.ir, module.statement_offset.tolist()) == expected
        num_functions += module.num_functions
    assert num_functions > 100


def test_the_readers_literals_are_those_of_the_expression_in_any_text():
    draw = random.Random(5)
    parts = [*'()%@"!#-.e+KF1x_$:,[]\r ', "align", "align ", "memory", "range", "0x", "27", "i32", "@f", "%a"]
    parts += ["inrange(", "-1.5e+00", "0xH3C"]
    lines = ["".join(draw.choices(parts, k=draw.randint(1, 14))) + "|" for _ in range(20000)]
    at = np.cumsum([0, *(len(line) + 1 for line in lines)]).tolist()
    assert _by_reader("\n".join([*lines, ""]).encode(), at[:-1]) == list(map(_by_expression, lines))
