"""Constants and outside names of statements: what is one, what is none, and what a compiler's rewriting keeps."""

import random
import re
import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.rooms import CompileOptions, Module, compile_source, find_literals, read_module, statement_literals

ROOT = Path(__file__).parents[3]
SOURCES, KERNELS = ROOT / "benchmarks" / "sources", ROOT / "ncc" / "measure" / "kernels"


def _hashes(*texts):
    """Classifiers that were trained know literals by these very numbers."""
    return [zlib.crc32(text.encode()) for text in texts]


def _string(text, *pieces):
    return _hashes(f"string {text}", *(f"piece {piece}" for piece in pieces))


def _of(module: Module) -> list[list[int]]:
    """Literals of each statement."""
    start, literal = statement_literals(module, np.arange(module.num_statements, dtype=np.int32))
    return [literal[one:two].tolist() for one, two in pairwise(start.tolist())]


TYPES = '%struct.node.12 = type { i32 }\n%"class.std::__1::vector 3" = type { ptr }\n'
ARGUMENTS = 'ptr %p, i32 %n, double %x, i64 %n.17.i, half %"h 5", ptr %11'


def _literals(line: str, before: str = "") -> list[int]:
    """Literals of one statement of a function."""
    text = f"{TYPES}{before}\ndefine void @f({ARGUMENTS}) {{\nentry:\n  {line}\n  ret void\n}}\n"
    module = read_module(text.encode())
    assert module.read_via == "direct"
    *_, header, found, end = _of(module)
    assert header == end == []
    return found


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("%r = add nsw i32 %n, 5", ["5"]),
        ("%r = add nsw i32 %n, -5", ["-5"]),
        ("%r = and i32 4294967295, %n", ["4294967295"]),
        ("%r = sub i32 0, %n", ["0"]),
        ("%r = select i1 %n, i32 1, i32 2", ["1", "2"]),
        ("%r = fadd double %x, 1.500000e+00", ["1.500000e+00"]),
        ("%r = fadd double -2.500000e-03, %x", ["-2.500000e-03"]),
        ("%r = fmul double %x, 0x400921FB54442D18", ["0x400921FB54442D18"]),
        ("%r = fmul double %x, 1.0", ["1.0"]),
        ("%r = alloca [100 x i32], align 16", ["100"]),
        ("%r = alloca [20 x [30 x double]]", ["20", "30"]),
        ("%r = getelementptr inbounds [8 x i32], ptr %p, i64 0, i64 7", ["8", "0", "7"]),
        ("%r = getelementptr inbounds nuw i8, ptr %p, i64 12", ["12"]),
        ("%r = insertvalue { i32, i32 } undef, i32 %n, 1", ["1"]),
        ("%r = add <4 x i32> %n, <i32 1, i32 2, i32 3, i32 9>", ["4", "1", "2", "3", "9"]),
        ("store i32 41, ptr %p, align 4", ["41"]),
        ("%r = icmp eq i32 %n, 10", ["10"]),
        ("%r = phi i32 [ 3, %entry ], [ %n, %entry ]", ["3"]),
    ],
)
def test_numbers(line, numbers):
    assert _literals(line) == _hashes(*(f"number {number}" for number in numbers))


@pytest.mark.parametrize(
    "line",
    [
        "%r = load i32, ptr %p, align 4",
        "%r = load volatile i64, ptr %p, align 8, !tbaa !5, !range !17",
        "%r = load double, ptr %p, align 8, !tbaa !5, !alias.scope !3, !noalias !4",
        "%r = load ptr, ptr %p, align 8, !dereferenceable !7, !align !8",
        "%12 = load i32, ptr %11",
        "%r.3 = trunc i64 %n.17.i to i32",
        "%r = trunc i64 %n to i16",
        '%r = alloca %"class.std::__1::vector 3", align 8',
        "%r = alloca %struct.node.12, align 8",
        '%"r 5" = freeze i32 %n',
        "%r = fpext double %x to x86_fp80",
        "%r = bitcast double %x to i64, !dbg !123",
        '%r = fneg half %"h 5", !fpmath !0',
        "%r = load i1, ptr null",
        "%r = select i1 true, i32 undef, i32 poison",
        "%r = call i32 %p(i32 %n) #12",
        "call void %p(ptr align 16 dereferenceable(48) %p, ptr nonnull dereferenceable_or_null(8) %11) #4, !srcloc !9",
    ],
)
def test_what_no_number_is(line):
    assert _literals(line) == []


def test_functions_headers_say_nothing_of_their_own():
    module = read_module(
        b"define dso_local i32 @f2(ptr align 8 dereferenceable(24) %0, i32 signext %1) local_unnamed_addr #3 "
        b"align 16 !dbg !44 {\n  ret i32 %1\n}\n"
    )
    assert _of(module) == [[], []]


STRING = r'@s = private unnamed_addr constant [9 x i8] c"a %d b\0A\00"'


@pytest.mark.parametrize(
    ("constant", "text", "pieces"),
    [
        (r'[6 x i8] c"hello\00"', "hello", ["hello"]),
        (r'[7 x i8] c"hello\0A\00"', "hello", ["hello"]),
        (r'[8 x i8] c"hello\0D\0A\00"', "hello", ["hello"]),
        (r'[8 x i8] c"\0A hello\00"', "\n hello", ["hello"]),
        (r'[6 x i8] c"\22q\22\5C\09x\00"', '"q"\\\tx', ["q", "x"]),
        (r'[3 x i8] c"\C3\A9\00"', "\xc3\xa9", []),
        (r'[3 x i8] c"%d\00"', "%d", ["%d"]),
        (r'[13 x i8] c"%s=%-5.2lf;%%\00"', "%s=%-5.2lf;%%", ["%s", "%-5.2lf"]),
        (r'[9 x i8] c"%d,%d:%c\00"', "%d,%d:%c", ["%d", "%d", "%c"]),
        (r'[3 x i8] c"12\00"', "12", ["12"]),
        (r'[9 x i8] c"No. 12ab\00"', "No. 12ab", ["No", "12", "ab"]),
        (r'[2 x i8] c"\0A\00"', "", []),
    ],
)
@pytest.mark.parametrize("name", ["@s", "@.str.12", '@"a b"'])
def test_strings_through_globals(name, constant, text, pieces):
    found = _literals(f"store ptr {name}, ptr %p, align 8", f"{name} = private constant {constant}")
    assert found == _string(text, *pieces)


def test_a_string_and_a_number_of_the_same_characters_differ():
    string = _literals("%r = load i8, ptr @s", r'@s = constant [3 x i8] c"12\00"')
    number = _literals("%r = add i32 %n, 12")
    name = _literals("%r = load i8, ptr @12", "@12 = external global i8")
    assert [len(found) for found in (string, number, name)] == [2, 1, 1]
    assert len({*string, *number, *name}) == 4


def test_strings_inside_constant_addresses():
    line = "store ptr getelementptr inbounds ([9 x i8], ptr @s, i64 0, i64 2), ptr %p, align 8"
    expected = [*_hashes("number 9"), *_string("a %d b", "a", "%d", "b"), *_hashes("number 0", "number 2")]
    assert _literals(line, STRING) == expected


def test_globals_that_hold_no_constant_string_are_none():
    before = '@b = global [4 x i8] c"abc\\00"\n@t = constant [2 x i32] [i32 1, i32 2]\n@mine.5 = global i32 7\n'
    for name in ("b", "t", "mine.5"):
        assert _literals(f"%r = load i32, ptr @{name}", before) == []


@pytest.mark.parametrize(
    ("line", "declaration", "names"),
    [
        ("%r = call i32 @puts(ptr %p)", "declare i32 @puts(ptr)", ["puts"]),
        ("%r = tail call double @sqrt(double %x) #5", "declare double @sqrt(double)", ["sqrt"]),
        ("%r = load ptr, ptr @stdin, align 8", "@stdin = external global ptr", ["stdin"]),
        (
            "call void @qsort(ptr %p, ptr @cmp)",
            "declare void @qsort(ptr, ptr)\ndeclare i32 @cmp(ptr)",
            ["qsort", "cmp"],
        ),
        ('call void @"my f"()', 'declare void @"my f"()', ["my f"]),
    ],
)
def test_outside_names(line, declaration, names):
    assert _literals(line, declaration) == _hashes(*(f"name {name}" for name in names))


@pytest.mark.parametrize(
    ("line", "declaration"),
    [
        ("%r = load i32, ptr @mine", "@mine = global i32 1"),
        ("call void @_Z4minev()", "define void @_Z4minev() {\n  ret void\n}"),
        ("call void @_ZN4Node2goEv(ptr %p)", "define void @_ZN4Node2goEv(ptr %0) {\n  ret void\n}"),
        ("call void @f(ptr %p, i32 %n, double %x)", ""),
        ("store ptr @f, ptr %p", ""),
        ("%r = call i32 @llvm.smax.i32(i32 %n, i32 %n)", "declare i32 @llvm.smax.i32(i32, i32)"),
        ("call void @llvm.lifetime.start.p0(ptr nonnull %p) #7", "declare void @llvm.lifetime.start.p0(ptr)"),
    ],
)
def test_the_authors_names_and_the_compilers_own_are_none(line, declaration):
    assert _literals(line, declaration) == []


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
define i32 @f(i32 %n) {
  %a = add i32 %n, 1
  %b = mul i32 %a, %n
  %c = call i32 @puts(ptr @s)
  %d = select i1 %b, i32 2, i32 3
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


def test_printf_and_puts_of_one_string_have_it_in_common():
    text = b'#include <stdio.h>\nint main(void) { printf("hello, 3 worlds\\n"); return 0; }\n'
    found = []
    for level in ("-O0", "-O1"):
        module = read_module(compile_source(text, CompileOptions(language="c", optimization=level)).ir)
        (call,) = (number for number in range(module.num_statements) if " call " in module.statement_text(number))
        found.append(_of(module)[call])
    string = _string("hello, 3 worlds", "hello", "3", "worlds")
    assert found == [_hashes(f"name {name}") + string for name in ("printf", "puts")]


def test_literals_of_a_program_outlive_optimization():
    text = b"""#include <stdio.h>
    extern void out(const char *, int, double);
    int global = 3;
    static int twice(int n) { return n * 12345; }
    int f(int n, double x) { out("seven %d\\n", twice(n + global) - 77, x * 2.5); return -9; }
    """
    numbers = ("12345", "-77", "2.500000e+00", "-9")
    expected = {*_hashes("name out", *(f"number {text}" for text in numbers)), *_string("seven %d", "seven", "%d")}
    for level in ("-O1", "-O2", "-O3"):
        module = read_module(compile_source(text, CompileOptions(language="c", optimization=level)).ir)
        found = {value for values in _of(module) for value in values}
        assert found == expected


def _by_statement(text):
    module = read_module(text)
    start, literal = statement_literals(module, np.arange(module.num_statements, dtype=np.int32))
    return [part.tolist() for part in np.split(literal, start[1:-1])]


def test_cases_of_a_switch():
    text = b"define void @f(i32 %n) {\nentry:\n  switch i32 %n, label %d [\n"
    text += b"    i32 5, label %a\n    i32 77, label %d\n  ]\n"
    text += b"a:\n  br label %d\nd:\n  ret void\n}\n"
    assert _by_statement(text)[1] == _hashes("number 5", "number 77")


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
    assert {value for part in _by_statement(text) for value in part} <= set(_hashes("name v"))


@pytest.mark.parametrize("number", ["0xK3FFFA000000000000000", "0xH3C00", "0xL00000000000000003FFF000000000000"])
def test_numbers_of_other_widths(number):
    kind = {"K": "x86_fp80", "H": "half", "L": "fp128"}[number[2]]
    assert len(_by_statement(f"define {kind} @f() {{\n  ret {kind} {number}\n}}\n".encode())[1]) == 1


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
    parts = [
        "align",
        "align ",
        "memory",
        "range",
        "(",
        ")",
        "%",
        "@",
        '"',
        "!",
        "#",
        "-",
        ".",
        "e",
        "+",
        "0x",
        "K",
        "F",
    ]
    parts += [
        "1",
        "27",
        "x",
        "_",
        "$",
        ":",
        ",",
        " ",
        "[",
        "]",
        "i32",
        "@f",
        "%a",
        "inrange(",
        "\r",
        "-1.5e+00",
        "0xH3C",
    ]
    lines = ["".join(draw.choices(parts, k=draw.randint(1, 14))) + "|" for _ in range(20000)]
    at = np.cumsum([0, *(len(line) + 1 for line in lines)]).tolist()
    assert _by_reader("\n".join([*lines, ""]).encode(), at[:-1]) == list(map(_by_expression, lines))
