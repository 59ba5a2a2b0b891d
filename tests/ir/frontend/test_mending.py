"""Programs that are not whole: which way each compiles, what is made up for it, and what stays refused."""

import math
import re

import pytest

from ncc.errors import CompileError
from tests.rooms import CompileOptions, compile_program, compile_source
from tests.support.refuses import refuses

LOOP = "for (int i = 0; i < 4; ++i) s += i * i;"
NO_HEADERS = "int main() { int n, s = 0; cin >> n; " + LOOP + " cout << s + n << endl; }\n"
OLD_C = "int add(a, b) int a; int b; { return a + b; }\nint main() { return add(1, 2); }\n"
NO_MACRO = "int a[N], b[N];\nint main() { int s = 0; " + LOOP + " a[s] = 1; cout << a[s] + b[s]; }\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="a.cpp"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def way_of(write, headers):
    """Writes a program down and compiles it by what the options say when nothing is chosen."""

    def way_of(text, name="a.cpp"):
        return compile_program(write(text, name), CompileOptions(), headers)

    return way_of


def _functions(ir: bytes) -> list[str]:
    return re.findall(r"^define .*?^}", ir.decode(), re.MULTILINE | re.DOTALL)


def test_headers_change_nothing_in_a_program_that_includes_them(way_of):
    text = "using namespace std;\nint main() { vector<int> v(9); sort(v.begin(), v.end()); return v[3]; }\n"
    whole = way_of("#include <algorithm>\n#include <vector>\n" + text)
    lacking = way_of(text)
    assert (whole.compiled_as, lacking.compiled_as) == ("unchanged", "with headers")
    (one,), (other,) = ([f for f in _functions(program.ir) if "@main(" in f] for program in (whole, lacking))
    assert re.sub(r"[!#]\d+", "", one) == re.sub(r"[!#]\d+", "", other)


@pytest.mark.parametrize(
    ("name", "value"), [("PI", math.pi), ("pi", math.pi), ("EPS", 1e-6), ("TRUE", 1), ("FALSE", 0), ("MAXN", 100)]
)
def test_values_that_names_tell(name, value, way_of):
    program = way_of(f"double f(double r) {{ cout << r; return r < {name}; }}")
    assert (program.compiled_as, list(program.macros)) == ("patched", [name])
    assert float(program.macros[name]) == pytest.approx(value, rel=1e-12)


WHOLE = [
    ("a.cpp", "#include <iostream>\nint main() { std::cout << 1; }\n"),
    ("a.c", '  #  include <stdio.h>\nint main(void) { return puts("a"); }\n'),
    ("a.C", "int x;\n\t#include <vector>\nint f(std::vector<int> &v) { return v[x]; }\n"),
    # these need no headers, and clash with them
    ("a.cpp", "int map[10], size;\nint main() { return map[size]; }"),
    ("a.cpp", "struct list { list *next; };\nint main() { list one; return one.next == &one; }"),
    ("a.c", "double y1(int n) { return n; }\nint main(void) { return (int)y1(3); }"),
]
LIST = "struct list { int x; list *next; };\nint main() { list *p = new list; cin >> p->x; cout << p->x; }"
IN_USE = "#include <iostream>\nusing namespace std;\nint max;\nint main() { cin >> max; cout << max; }"
STREAM = "#include <iostream>\nusing namespace std;\n"
IN_MAIN = r"define .*i32 @main\("
MENDED = [
    *(("unchanged", name, text, {}, "define") for name, text in WHOLE),
    ("with headers", "a.cpp", NO_HEADERS, {}, IN_MAIN),
    ("with headers", "a.cpp", "int main() { int n; cin >> n; cout << n << endl; }", {}, IN_MAIN),
    ("with headers", "a.cpp", 'int main() { int n; scanf("%d", &n); printf("%d", n); }', {}, IN_MAIN),
    ("with headers", "a.c", 'void main() { char s[9]; gets(s); printf("%d", (int)strlen(s)); }', {}, "@main"),
    (
        "with headers",
        "a.cpp",
        "char s[9];\nint main() { gets(s); vector<int> v; sort(v.begin(), v.end()); }",
        {},
        IN_MAIN,
    ),
    (
        "with headers",
        "a.cpp",
        "// #include <iostream>\nint main() { cout << sqrt(2.) << setprecision(2); }",
        {},
        IN_MAIN,
    ),
    ("with headers", "a.cpp", "#include <cstdio>\nint main() { string s; cin >> s; printf(s.c_str()); }", {}, IN_MAIN),
    ("C89", "a.cpp", OLD_C, {}, IN_MAIN),
    ("C89", "a.cpp", 'f(int a) { return a; }\nint main() { printf("%d", f(1)); }', {}, IN_MAIN),
    ("C89", "a.cpp", 'main() { int n; scanf("%d", &n); printf("%d", n); }', {}, IN_MAIN),
    ("C89", "a.cpp", "int main() { int new = 3, class = 4; return new + class; }", {}, IN_MAIN),
    ("C89", "a.cpp", "#include <stdio.h>\n" + OLD_C, {}, IN_MAIN),
    ("C89", "a.c", 'main() { int n; scanf("%d", &n); printf("%d", n); }', {}, IN_MAIN),
    ("C89", "a.c", "#include <stdio.h>\nint main() { int n = f(1); return n; }\nf(n) { return n; }", {}, IN_MAIN),
    ("C++", "a.c", NO_HEADERS, {}, IN_MAIN),
    ("C++", "a.c", "bool odd(int n) { return n % 2; }\nint main() { cout << odd(3); }", {}, IN_MAIN),
    ("C++", "a.c", "#include <vector>\n", {}, ""),
    ("patched", "a.cpp", NO_MACRO, {"N": "100"}, r"@a = .*\[100 x i32\]"),
    ("patched", "a.cpp", STREAM + NO_MACRO, {"N": "100"}, r"@a = .*\[100 x i32\]"),
    ("patched", "a.cpp", "ElemType f() { cout << 1; return 0; }", {"ElemType": "int"}, r"define .*i32 @_Z1fv\("),
    ("patched", "a.cpp", "void main() { cout << 1; }", {}, IN_MAIN),
    ("patched", "a.cpp", "void  main ( void ) { cout << 1; }", {}, IN_MAIN),
    ("patched", "a.cpp", "main() { cout << 1; }", {}, IN_MAIN),
    ("patched", "a.cpp", "int n;\nmain(int c, char **v) { cout << 1; }", {}, IN_MAIN),
    ("patched", "a.cpp", "int map[10];\nint main() { cin >> map[1]; cout << map[1]; }", {"map": "map_"}, IN_MAIN),
    ("patched", "a.cpp", "int count;\nint main() { cin >> count; cout << count; }", {"count": "count_"}, IN_MAIN),
    ("patched", "a.cpp", LIST, {"list": "list_"}, IN_MAIN),
    ("patched", "a.cpp", IN_USE, {"max": "max_"}, IN_MAIN),
]
"""How each program compiles, the macros that are made up for it, and what its IR holds."""


@pytest.mark.parametrize(("way", "name", "text", "macros", "pattern"), MENDED)
def test_what_a_program_lacks_is_made_up(way, name, text, macros, pattern, way_of, tmp_path):
    program = way_of(text, name)
    assert (program.compiled_as, program.macros) == (way, macros)
    assert re.search(pattern, program.ir.decode())
    assert way != "C89" or b"@_Z" not in program.ir
    if way == "unchanged":
        assert program.ir == compile_source(tmp_path / name).ir
    elif way == "with headers":
        with pytest.raises(CompileError):
            compile_source(tmp_path / name, CompileOptions(is_strict=True))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.cpp", "#include <iostream>\nint main() { return 0 "),
        ("a.c", "#include <stdio.h>\nint main() { cout << 1 }"),
        ("a.cpp", "#include <nowhere.h>\nint main() { }"),
    ],
)
def test_what_is_wrong_is_refused_with_what_the_first_attempt_said(name, text, write, headers):
    path = write(text, name)
    with pytest.raises(CompileError) as expected:
        compile_source(path, CompileOptions(is_strict=True))
    with pytest.raises(CompileError) as caught:
        compile_program(path, CompileOptions(), headers)
    assert str(caught.value) == str(expected.value)
    assert caught.value.errors == expected.value.errors
    assert len(caught.value.errors) >= 1


@pytest.mark.parametrize("text", ["int main() { int x = ; cout << x; }", "int main() { cout << foo(3); }"])
def test_the_first_attempt_at_a_program_without_include_lines_has_headers(text, write, headers):
    path = write(text)
    with refuses(CompileError, "a.cpp: does not compile", "a.cpp:1:", "-x c++ ") as caught:
        compile_program(path, CompileOptions(), headers)
    assert "cout" not in str(caught.value).partition("command: ")[0]


@pytest.mark.parametrize(
    ("name", "text"), [("a.cpp", NO_HEADERS), ("a.cpp", OLD_C), ("a.c", NO_HEADERS), ("a.cpp", NO_MACRO)]
)
def test_a_cache_that_can_not_be_written_is_done_without(name, text, write, headers, tmp_path):
    (tmp_path / "file").write_text("")
    path = write(text, name)
    without, usual = (compile_program(path, CompileOptions(), folder) for folder in (tmp_path / "file" / "h", headers))
    assert without.compiled_as == usual.compiled_as != "unchanged"
    assert _functions(without.ir) == _functions(usual.ir)


@pytest.mark.parametrize("choice", [{"defines": ("N=17",)}, {"flags": ("-DN=17", "-Werror")}])
def test_options_count_and_warnings_do_not(choice, write, headers):
    program = compile_program(write(NO_MACRO + "int warned() { }\n"), CompileOptions(**choice), headers)
    assert (program.compiled_as, program.macros) == ("with headers", {})
    assert b"[17 x i32]" in program.ir


def test_lines_keep_their_numbers_under_macros(write, headers):
    text = "int a[N];\nint main()\n{\n  cin >> a[M];\n}\n"
    program = compile_program(write(text), CompileOptions(debug_lines=True, optimization="0"), headers)
    assert program.macros == {"N": "100", "M": "100"}
    lines = {int(line) for line in re.findall(r"!DILocation\(line: (\d+), .*scope: !\d+\)", program.ir.decode())}
    assert {4, 5} <= lines


def test_a_mended_program_finds_the_headers_beside_it(tmp_path):
    (tmp_path / "l.h").write_text("int base = 3;\n")
    (tmp_path / "a.cpp").write_text('#include "l.h"\nint a[N];\nint main() { return a[base]; }\n')
    assert compile_program(tmp_path / "a.cpp", CompileOptions(), tmp_path / "headers").macros == {"N": "100"}
    prepared = sorted((tmp_path / "headers").iterdir())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.cpp").write_text("int a[N];\nint main() { return 0; }\n")
    assert (
        compile_program(tmp_path / "other" / "a.cpp", CompileOptions(), tmp_path / "headers").compiled_as == "patched"
    )
    assert sorted((tmp_path / "headers").iterdir()) == prepared  # headers are prepared once, not for every folder
