"""Input made to be slow, deep or large is read or refused at once, and pauses of the reader change nothing."""

from pathlib import Path

import numpy as np
import pytest

from ncc.errors import IRError
from tests.rooms import native, read_module
from tests.support.refuses import refuses

IR = Path(__file__).parents[2] / "data" / "ir"
TEXTS = sorted(IR.glob("*.ll"))


def function(line: str) -> bytes:
    return f"define void @f(i32 %n) {{\n  {line}\n  ret void\n}}\ndeclare void @g(metadata)\n".encode()


@pytest.mark.parametrize("bracket", ["[", "{", "<", "<{", "[1 x ", "<2 x ", "{ i8, "])
def test_types_nested_without_end(bracket: str) -> None:
    with pytest.raises(IRError):
        read_module(function(f"%x = alloca {bracket * 100_000}"))


@pytest.mark.parametrize("brackets", ["[1 x {}]", "{{ {} }}", "<{{ {} }}>"])
def test_types_nested_deep(brackets: str) -> None:
    opening, closing = brackets.format("|").split("|")
    with refuses(IRError, "types nested too deep"):
        read_module(function(f"%x = alloca {opening * 10_000}i8{closing * 10_000}"))
    assert read_module(function(f"%x = alloca {opening * 60}i8{closing * 60}")).num_statements == 3


def test_structures_nested_deep_by_name() -> None:
    types = "".join(f"%s{i} = type {{ %s{i + 1} }}\n" for i in range(10_000)) + "%s10000 = type { i8 }\n"
    with refuses(IRError, "types nested too deep"):
        read_module(types.encode() + function("%x = alloca %s0"))


def test_constants_nested_deep() -> None:
    # the direct reader skips what stands in a constant without recursion: LLVM isn't asked
    module = read_module(function("store i32 " + "add (i32 " * 10_000 + "1" + ", i32 1)" * 10_000 + ", ptr null"))
    assert module.statement_text(1) == "store i32 <INT>, ptr null"
    with pytest.raises(IRError):
        read_module(function("store i32 " + "add (i32 " * 10_000))
    with pytest.raises(IRError):
        read_module(function("store i32 1" + ")" * 10_000))


def test_words_repeated_without_end() -> None:
    for word in ("metadata ", "noundef ", "tail ", "nsw ", "label ", "inrange ", "cleanup ", "asm "):
        with pytest.raises(IRError):
            read_module(function("call void @g(" + word * 200_000 + ")"))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_pauses_change_nothing(path, monkeypatch):
    text = path.read_bytes()
    whole = native.read_text(text, known_callees=None)
    for size in (1, 100):
        monkeypatch.setattr(native, "_READ", native._READ._replace(slice_size=size))
        parts = native.read_text(text, known_callees=None)
        assert all(np.array_equal(whole[name], parts[name]) for name in whole)


def test_errors_are_the_same_wherever_reading_paused(monkeypatch):
    text = b"define void @f() {\n  ret void\n}\ndefine void @g() {\n  br label %nowhere\n}\n"
    for size in (1 << 22, 30, 1):
        monkeypatch.setattr(native, "_READ", native._READ._replace(slice_size=size))
        with pytest.raises(native.IRSyntaxError) as caught:
            native.read_text(text, known_callees=None)
        assert "use of undefined value" in str(caught.value)
        assert caught.value.offset == text.index(b"nowhere")


def test_a_body_that_is_cut_off_is_an_error(monkeypatch):
    monkeypatch.setattr(native, "_READ", native._READ._replace(slice_size=1))
    for text in (b"define void @f() {", b"define void @f() {\n  ret void\n", b"define void @f() {\n a:"):
        with pytest.raises(native.IRSyntaxError):
            native.read_text(text, known_callees=None)


def test_reading_ends_at_its_deadline(monkeypatch):
    monkeypatch.setattr(native, "_READ", native._READ._replace(slice_size=100))
    text = TEXTS[0].read_bytes()
    with pytest.raises(TimeoutError, match="0 s"):
        native.read_text(text, known_callees=None, timeout_s=0.0)
    monkeypatch.setattr("ncc.ir.reader.reader._SECONDS", -1000.0)
    with refuses(IRError, str(TEXTS[0])):
        read_module(text, name=str(TEXTS[0]))


@pytest.mark.timeout(60)
def test_names_that_collided_without_a_key():
    """200,000 names with one hash, had it no key: half the square of that in comparisons."""
    mask, multiplier, length = (1 << 64) - 1, 0xD6E8FEB86659FD93, 16
    first = 0x9E3779B97F4A7C15 ^ (length * multiplier & mask)
    lines = []
    for number in range(200_000):
        word = b"%08d" % number
        state = (first ^ int.from_bytes(word, "little")) * multiplier & mask
        name = word + ((state ^ state >> 32) ^ 0x1234567890ABCDEF).to_bytes(8, "little")
        if not set(name) & set(b'\0\n\r"\\'):
            lines.append(b'@"' + name + b'" = global i8 0\n')
    module = read_module(b"".join(lines) + b"define void @f() {\n  ret void\n}\n")
    assert len(module.node_kind) > len(lines) > 100_000


@pytest.mark.timeout(60)
def test_values_with_large_numbers_in_many_functions():
    """Each function's numbered values were once as many as the largest number that the file held."""
    number = 1_300_000
    text = "".join(f"define void @f{i}(i8 %{number}){{ret void}}\n" for i in range(60_000)).encode()
    assert read_module(text).num_functions == 60_000


def test_sizes_are_written_without_leading_zeros():
    zeros = "0" * 4000
    uses = ", ".join(["%T zeroinitializer"] * 5000)
    text = (
        f"%T = type [{zeros}1 x i8]\ndeclare void @f(...)\ndefine void @g() {{\n  call void @f({uses})\n  ret void\n}}"
    )
    module = read_module(text.encode())
    assert "[1 x i8] zeroinitializer" in module.statement_text(1)
    assert len(module.statement_text(1)) < 300_000
    with pytest.raises(IRError):
        read_module(f"define void @f() {{\n  %x = alloca [1{zeros} x i8]\n  ret void\n}}".encode())


def test_structures_that_unfold_without_end():
    fields = ", ".join(["{ i64, i64, i64, i64 }"] * 150)
    uses = ", ".join(["%T zeroinitializer"] * 30_000)
    text = (
        f"%T = type {{ {fields} }}\ndeclare void @f(...)\ndefine void @g() {{\n  call void @f({uses})\n  ret void\n}}"
    )
    with pytest.raises(native.IRSyntaxError, match="unfold to more than 64 times"):
        native.read_text(text.encode(), known_callees=None)


def test_attributes_newer_than_the_reader_are_read_once_llvm_has_printed_them():
    text = b"""declare i32 @g(i32 brandnew(5), ...)
define brandnew i32 @f(i32 brandnew %x) #0 {
  %y = call brandnew i32 (i32, ...) @g(i32 brandnew 1) brandnew
  ret i32 %y
}
attributes #0 = { brandnew nounwind }
"""
    with pytest.raises(native.IRSyntaxError):
        native.read_text(text, known_callees=None)
    assert len(native.read_text(text, known_callees=None, verified=True)["opcode"]) == 3
