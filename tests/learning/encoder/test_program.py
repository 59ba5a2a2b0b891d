"""Programs as classifiers read them: the author's statements alone, with their texts and literals."""

import zlib

import pytest

from ncc import CompileOptions, read_module
from tests.rooms import OPCODES, ProgramTable, compile_source, describe_program, is_library_function, library_name
from tests.support.text import rows

LIBRARY = """
define linkonce_odr void @_ZNSt6vectorIiSaIiEE9push_backERKi(ptr %v, ptr %x) {
  %old = load ptr, ptr %v, align 8
  store ptr %x, ptr %old, align 8
  ret void
}
"""
STARTUP = """
define internal void @_GLOBAL__sub_I_a.cpp() section ".text.startup" {
  %n = add i64 99, 98
  ret void
}
"""
AUTHOR = """
@s = private constant [4 x i8] c"one\\00"
declare i32 @puts(ptr)
define void @_Z4pushRSt6vectorIiSaIiEEi(ptr %v, i32 %n) {
  %slot = alloca i32, align 4
  store i32 %n, ptr %slot, align 4
  %r = call i32 @puts(ptr @s)
  ret void
}
define i32 @main() {
  %n = add nsw i32 17, 18
  %m = add nsw i32 %n, 17
  ret i32 %m
}
"""


def _content(program: ProgramTable) -> tuple[list, ...]:
    arrays = (program.opcode, program.literal_start, program.literal)
    return [program.texts[number] for number in program.text_id], *(array.tolist() for array in arrays)


def test_what_the_library_and_the_compiler_put_in_is_dropped():
    module = read_module((LIBRARY + AUTHOR + STARTUP).encode())
    program = describe_program(module)
    opcodes = ["define", "alloca", "store", "call", "ret", "define", "add", "add", "ret"]
    assert [OPCODES[number] for number in program.opcode] == opcodes
    words = ["number 17", "number 18", "number 17"]
    literals = [zlib.crc32(word.encode()) for word in ["name puts", "string one", "piece one", *words]]
    assert program.literal.tolist() == literals
    assert program.literal_start.tolist() == [0, 0, 0, 0, 3, 3, 3, 5, 6, 6]


@pytest.mark.parametrize("text", [LIBRARY + AUTHOR, AUTHOR + LIBRARY, STARTUP + LIBRARY + AUTHOR])
def test_a_program_is_the_same_whatever_comes_with_it(text):
    module = read_module(text.encode())
    program = describe_program(module)
    assert _content(program) == _content(describe_program(read_module(AUTHOR.encode())))


def test_all_is_kept_where_there_is_nothing_else():
    module = read_module((LIBRARY + STARTUP).encode())
    program = describe_program(module)
    assert len(program.text_id) == module.num_statements == 7


def test_the_functions_of_a_program_of_cpp():
    text = b"""#include <algorithm>
    #include <iostream>
    struct Box { int side; int area() const; bool operator<(const Box &other) const { return side < other.side; } };
    int Box::area() const { return side * side * 6; }
    static Box boxes[10];
    int main() { int n = 0; while (std::cin >> n) boxes[n % 10].side = n; std::sort(boxes, boxes + 10);
      std::cout << boxes[4321 % 10].area(); }
    """
    module = read_module(compile_source(text, CompileOptions(language="c++", optimization="-O0")).ir)
    program = describe_program(module)
    assert module.num_functions > 20
    own = [name for name in module.function_names if not is_library_function(name)]
    assert sorted(own) == ["_ZNK3Box4areaEv", "_ZNK3BoxltERKS_", "main"]
    assert (program.opcode == OPCODES.index("define")).sum() == 3
    assert zlib.crc32(b"number 6") in program.literal


@pytest.mark.parametrize("case", rows("names.txt"))
def test_names(case):
    kind, *names = case[0].split()
    if kind in ("library", "author"):
        assert [is_library_function(name) for name in names] == [kind == "library"]
    else:
        spelled = {library_name(name) for name in names}
        assert len(spelled) == (len(names) if kind == "differ" else 1)
        assert kind != "plain" or spelled == {*names}


@pytest.mark.parametrize("name", ["_Z", "_Z3", "_Z999999x", "_ZN", "_ZNSt", "_ZNSt3__1", "_ZE", "_ZS", "_ZNSi"])
def test_names_that_are_cut_off_are_no_trouble(name):
    assert isinstance(library_name(name), str)
    assert is_library_function(name) == name.startswith(("_ZNSt", "_ZNSi"))


@pytest.mark.parametrize(
    "name", ["_ZNSolsEi", "_ZNSt3__15rtypeIcE2idE", "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"]
)
def test_substitutions_are_no_words(name):
    assert not any(word.startswith("_") or not word for word in library_name(name).split(" ")[:-2])
