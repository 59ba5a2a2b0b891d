"""What a module says beside its statements: names, numbers, operands, sources, kernels, strings and outside names."""

from pathlib import Path

import pytest

from tests.rooms import OPCODES, Module, NodeKind, read_module

FIXTURES = Path(__file__).parents[2] / "data" / "ir"


def operands_of(module: Module, statement: int) -> list[str | None]:
    nodes = module.operand[module.operand_start[statement] : module.operand_start[statement + 1]].tolist()
    return [module.node_name(node) if node >= 0 else None for node in nodes]


def first_operand(module: Module, statement: int) -> int:
    return int(module.operand[module.operand_start[statement]])


def labels_of(module: Module) -> list[str]:
    return [module.node_name(int(node)) for node in module.basic_block_label]


def test_values_of_operand_bundles_and_indices_that_are_computed_are_operands() -> None:
    module = read_module(
        b'declare void @g()\ndefine void @f(i32 %n, <4 x float> %v) {\n  call void @g() [ "deopt"(i32 %n, i32 1) ]\n'
        b"  %a = extractelement <4 x float> %v, i32 %n\n  %b = insertelement <4 x float> %v, float %a, i64 3\n"
        b"  ret void\n}"
    )
    assert [operands_of(module, statement) for statement in (1, 2, 3)] == [["g", "n"], ["v", "n"], ["v", "a", None]]


def test_numbers_that_are_not_written() -> None:
    module = read_module(
        b"define i32 @f(i32, i32 %named, i32) {\n  add i32 %0, %1\n  br label %4\n"
        b"; <label>:4\n  %5 = add i32 %3, 1\n  ret i32 %5\n}"
    )
    assert operands_of(module, 0) == ["0", "named", "1"]
    assert labels_of(module) == ["2", "4"]
    assert operands_of(module, 3) == ["3", None]
    assert module.node_definition[first_operand(module, 3)] == 1


def test_names_that_begin_with_a_digit_take_no_number() -> None:
    text = b'define i32 @f(i32) {\n  %"5x" = add i32 %0, 2\n  br label %2\n\n; <label>:2\n  ret i32 1\n}'
    assert labels_of(read_module(text)) == ["1", "2"]


def test_a_quoted_number_is_another_name_than_the_number() -> None:
    module = read_module(
        b'define i32 @f(i32 %"0") {\n  %1 = add i32 %"0", %"2"\n  %"2" = add i32 %1, 1\n  ret i32 %"2"\n}'
    )
    assert [operands_of(module, statement) for statement in (1, 2)] == [["0", "2"], ["1", None]]
    place = module.operand_start[1]
    assert module.node_definition[module.operand[place : place + 2]].tolist() == [0, 2]


@pytest.mark.parametrize("number", ["1000000000", "999999999"])
def test_numbers_too_large_for_the_file_cost_no_memory(number: str) -> None:
    text = f"define i32 @f() {{\n  %{number} = add i32 1, 2\n  add i32 3, 4\n  ret i32 0\n}}\n"
    assert read_module(text.encode()).num_statements == 4


def test_a_value_used_before_the_block_that_defines_it() -> None:
    module = read_module(
        b"define i32 @f() {\nentry:\n  br label %second\nfirst:\n  ret i32 %x\n"
        b"second:\n  %x = add i32 1, 2\n  br label %first\n}"
    )
    use = first_operand(module, 2)
    assert (module.node_name(use), module.node_kind[use], module.node_definition[use]) == ("x", NodeKind.RESULT, 3)
    assert module.operand_definition.tolist()[module.operand_start[2]] == 3


def test_names_are_unescaped_and_never_confused() -> None:
    module = read_module(
        b'@"a\\22\\5C" = global i32 0\n@"\xff" = global i32 0\ndefine void @"\\C3\\A9"() {\n'
        b'"b c":\n  store i32 1, ptr @"a\\22\\5C"\n  store i32 1, ptr @"\xff"\n  br label %"b;{"\n"b;{":\n  ret void\n}'
    )
    assert module.function_names == ("é",)
    assert [module.node_name(node) for node in range(module.num_nodes)] == ['a"\\', "\\xff", "é", "b c", "b;{"]


def test_lines_of_debug_locations() -> None:
    module = read_module(
        b"define void @f(ptr %p) !dbg !3 {\n  %x = load i32, ptr %p, align 4, !dbg !7\n"
        b"  %y = add i32 %x, 1, !dbg !DILocation(line: 99, column: 2, scope: !3)\n"
        b"  store i32 %y, ptr %p, align 4, !tbaa !4, !dbg !8\n  store i32 %y, ptr %p, align 4, !dbg !12345\n"
        b"  ret void\n}\n!8 = distinct !DILocation(line: 1000000, scope: !3)\n"
        b'!3 = distinct !DISubprogram(name: "f", line: 5)\n!4 = !{!"x"}\n!7 = !DILocation(line: 17, scope: !3)\n'
    )
    assert module.source_line.tolist() == [0, 17, 99, 1000000, 0, 0]


def test_bitcode_in_apples_wrapper() -> None:
    raw = (FIXTURES / "tree.llvm11.bc").read_bytes()
    wrapper = b"".join(number.to_bytes(4, "little") for number in (0x0B17C0DE, 0, 20, len(raw), 7))
    module = read_module(wrapper + raw)
    assert module.read_via == "bitcode"
    assert (module.texts, module.text_id.tolist()) == (read_module(raw).texts, read_module(raw).text_id.tolist())


def test_what_the_direct_reader_refuses_is_read_from_llvms_printing() -> None:
    # deeper than the direct reader goes; LLVM prints opaque pointers, and the chain is gone
    types = "".join(f"%s{i} = type {{ i32, %s{i + 1} addrspace(1)* }}\n" for i in range(300)) + "%s300 = type { i32 }\n"
    module = read_module((types + "define void @f() {\n  %x = alloca %s0\n  ret void\n}").encode())
    assert module.read_via == "llvm"
    assert module.statement_text(1) == "<%ID> = alloca { i32, ptr addrspace(1) }, align 8"


# ---- kernels


def test_kernels_that_metadata_marks() -> None:
    names = ("device", '"ker nel"', "_Z6kernelPf")
    marks = '!{ptr @_Z6kernelPf, !"kernel", i32 1}', '!{ptr @"ker nel", !"kernel", i32 1}', '!{ptr @device, !"max"}'
    text = "".join(f"define void @{name}(ptr %x) {{\n  ret void\n}}\n" for name in names)
    text += "!nvvm.annotations = !{!0, !1, !2}\n" + "".join(f"!{n} = {mark}\n" for n, mark in enumerate(marks))
    assert read_module(text.encode()).function_is_kernel.tolist() == [False, True, True]


def test_the_first_kernel_is_the_first_function_marked_as_one() -> None:
    kernel = "define spir_kernel void @k() {\n  ret void\n}\n"
    assert read_module((EMPTY + kernel + kernel.replace("@k", "@l")).encode()).first_kernel == 1
    assert read_module(EMPTY.encode()).first_kernel == 0


EMPTY = "define void @f() {\n  ret void\n}\n"
BODY = """define spir_func void @__clang_ocl_kern_imp_k(i32 %x) !kernel_arg_addr_space !0 {
  %twice = shl i32 %x, 1
  ret void
}
"""
KERNEL = "define spir_kernel void @k(i32 %x) !kernel_arg_addr_space !0 {{\n  {}\n  ret void\n}}\n"
CALL = "call spir_func void @__clang_ocl_kern_imp_k(i32 %x)"
OTHER = f"define spir_kernel void @other(i32 %x) {{\n  {CALL}\n  ret void\n}}\n"


@pytest.mark.parametrize("body_first", [True, False])
@pytest.mark.parametrize(
    ("kernel", "more"),
    [(KERNEL.format(CALL), ""), (KERNEL.format("%twice = shl i32 %x, 1"), ""), (KERNEL.format(CALL), OTHER)],
    ids=["called", "inlined", "called by another"],
)
def test_a_kernel_whose_body_clang_splits_from_it_is_there_once(kernel: str, more: str, body_first: bool) -> None:
    parts = (BODY, kernel) if body_first else (kernel, BODY)
    module = read_module("".join((*parts, more, "!0 = !{}\n")).encode())
    assert module.function_names == (("k", "other") if more else ("k",))
    assert module.function_is_kernel.all()
    assert module.statement_text(1) == "<%ID> = shl i32 <%ID>, <INT>"
    assert module.callee[module.callee >= 0].tolist() == ([module.function_node[0]] if more else [])


def test_a_body_without_its_kernel_is_a_function() -> None:
    assert read_module(f"{BODY}!0 = !{{}}\n".encode()).function_names == ("__clang_ocl_kern_imp_k",)


# ---- what stands in the text


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.ll")), ids=lambda path: path.name)
def test_the_source_of_a_statement_starts_where_it_does(path: Path) -> None:
    module = read_module(path)
    for statement in range(module.num_statements):
        source, opcode = module.statement_source(statement), OPCODES[module.opcode[statement]]
        if opcode == "define":
            assert f"@{module.function_names[int(module.statement_function[statement])]}(" in source
            assert not source.startswith("define")
            assert source.endswith("{")
            continue
        if module.result[statement] >= 0:
            name, _, source = source.partition(" = ")
            assert name.strip().strip('%"') == module.node_name(int(module.result[statement]))
        words = source.split()
        assert words[words[0] in ("tail", "musttail", "notail")] == opcode


def test_the_source_of_a_statement_is_its_first_line_and_all_of_a_switch() -> None:
    head, switch = (
        "dso_local i32 @f(i32 %n) #0 personality ptr @g {",
        "switch i32 %n, label %a [\n    i32 0, label %b\n  ]",
    )
    module = read_module(
        f"declare void @g()\ndefine {head}\nentry:\n  {switch}\na:\n  invoke void @g()\n"
        "          to label %b unwind label %b ; either way\nb:\n  ret i32 -7, !dbg !3\n}\n!3 = !{}".encode()
    )
    found = [module.statement_source(statement).strip() for statement in range(module.num_statements)]
    assert found == [head, switch, "invoke void @g()", "ret i32 -7, !dbg !3"]


def test_the_source_of_metadata() -> None:
    text = b"!1 = !{i32 1}\n!10 = !{i32 10}\ndefine void @f() !x !1 {\n  ret void, !x !0\n}\n!0 = !{!1, !10}"
    found = [read_module(text).metadata_source(number) for number in (0, 1, 10, 2, 100)]
    assert found == ["!0 = !{!1, !10}", "!1 = !{i32 1}", "!10 = !{i32 10}", "", ""]


def test_the_source_of_a_global_variable() -> None:
    globals_ = [
        "@a = internal constant i32 1", '@"b c" = addrspace(3) global i32 undef', "@0 = global ptr @a",
        "@d = external global i32",
    ]  # fmt: skip
    loads = "".join(f"  %x{n} = load i32, ptr {line.split(' =')[0]}\n" for n, line in enumerate(globals_))
    module = read_module("\n".join([*globals_, f"define ptr @f() {{\n{loads}  ret ptr @f\n}}"]).encode())
    assert [module.global_source(first_operand(module, number)) for number in range(1, 6)] == [*globals_, ""]


STRINGS = {
    r'@.str = private unnamed_addr constant [6 x i8] c"hello\00", align 1': {".str": "hello"},
    r'@str.10 = private constant [3 x i8] c"a\0A\00"': {"str.10": "a\n"},
    r'@s = constant [9 x i8] c"\22q\22\09\5C %d\00"': {"s": '"q"\t\\ %d'},
    r'@s = constant [5 x i8] c"\c3\A9\ff\7f\00"': {"s": "\xc3\xa9\xff\x7f"},
    r'@s = constant [3 x i8] c"abc"': {"s": "abc"},
    r'@s = constant [5 x i8] c"ab\00\00\00"': {"s": "ab\0\0"},
    r'@s = constant [1 x i8] c"\00"': {"s": ""},
    r'@s = constant [7 x i8] c"; @t =\00"': {"s": "; @t ="},
    '@s = constant [3 x i8] c"\xe9\xff\\00"': {"s": "\xe9\xff"},
    r'@_ZL3msg = internal constant [3 x i8] c"ab\00", section "s", align 16': {"_ZL3msg": "ab"},
    r'@"constant [2 x i8]" = constant [2 x i8] c"x\00"': {"constant [2 x i8]": "x"},
    r'@"caf\C3\A9" = constant [2 x i8] c"x\00"': {"café": "x"},
    r'@-a$.b-1 = local_unnamed_addr addrspace(2) constant [2 x i8] c"x\00"': {"-a$.b-1": "x"},
    r'@0 = private unnamed_addr constant [2 x i8] c"x\00"': {"0": "x"},
    '@a = constant i32 1\n@b = constant [2 x i8] c"2\\00"\r\n@c = global [2 x i8] c"3\\00"\r\n'
    '@d = constant [2 x i8] c"4\\00"': {"b": "2", "d": "4"},
    r'@buffer = dso_local local_unnamed_addr global [4 x i8] c"abc\00", align 1': {},
    "@empty = constant [4 x i8] zeroinitializer": {},
    r'@rows = constant [2 x [2 x i8]] [[2 x i8] c"a\00", [2 x i8] c"b\00"]': {},
    r'@pair = constant { i8, [2 x i8] } { i8 1, [2 x i8] c"a\00" }': {},
    "@wide = constant [2 x i16] [i16 97, i16 0]": {},
    r'; @comment = constant [2 x i8] c"a\00"': {},
    "@elsewhere = external constant [4 x i8]": {},
}


@pytest.mark.parametrize(("text", "strings"), STRINGS.items())
def test_constants_that_are_strings(text: str, strings: dict[str, str]) -> None:
    data = text.encode("latin-1")
    assert read_module(data + f"\n{EMPTY}".encode()).string_constants == strings


OUTSIDE = {
    "declare i32 @puts(ptr nocapture noundef readonly) local_unnamed_addr #1": {"puts"},
    "declare !dbg !1 void @f1()\n!1 = !{}": {"f1"},
    'declare void @"a b"(i32)\ndeclare void @"a\\22b"()': {"a b", 'a"b'},
    "declare extern_weak void @maybe()\n@w = extern_weak global i32": {"maybe", "w"},
    "declare { i32, ptr } @pair(ptr byval({ i32 }) align 4)": {"pair"},
    "declare void @llvm.assume(i1)": {"llvm.assume"},
    "@_ZSt4cout = external global %c, align 8\n%c = type { i32 }": {"_ZSt4cout"},
    "@x = external dso_local thread_local addrspace(1) constant i32": {"x"},
    "@a = external global i32\n@b = global i32 1\n@c = external global i32\ndeclare void @d()": {"a", "c", "d"},
    "@mine = internal global ptr @f": set(),
    "@mine = common global i32 0": set(),
    r'@mine = constant [20 x i8] c"declare void @puts()"': set(),
    r'@mine = global i32 0, section "external "': set(),
    "; declare void @puts()": set(),
    "@mine = alias void (), ptr @f": set(),
}


@pytest.mark.parametrize(("text", "names"), OUTSIDE.items())
def test_names_that_a_module_takes_from_outside(text: str, names: set[str]) -> None:
    assert read_module(f"{text}\n{EMPTY}".encode()).external_names == names
