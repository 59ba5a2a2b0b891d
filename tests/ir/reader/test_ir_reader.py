"""What the reader makes of types, numbers, names, debug locations and odd bytes."""

from pathlib import Path
from typing import Any

import pytest

from ncc.errors import InputError
from tests.rooms import OPCODES, Abstraction, Module, NodeKind, read_module
from tests.support.refuses import refuses


def statements(module: Module) -> list[str]:
    return [module.texts[i] for i in module.text_id.tolist()]


def read(text: str | bytes, **options: Any) -> Module:
    """Reads without the help of LLVM."""
    data = text if isinstance(text, bytes) else text.encode()
    module = read_module(data, abstraction=Abstraction(**options))
    assert module.read_via == "direct"
    return module


def body(text: str, before: str = "", **options: Any) -> list[str]:
    """Statements of a function of two arguments that holds the lines."""
    return statements(read(f"{before}\ndefine void @f(ptr %p, i32 %n) {{\n{text}\n  ret void\n}}\n", **options))[1:-1]


def operands_of(module: Module, statement: int) -> list[str | None]:
    nodes = module.operand[module.operand_start[statement] : module.operand_start[statement + 1]].tolist()
    return [module.node_name(node) if node >= 0 else None for node in nodes]


@pytest.mark.parametrize(
    ("types", "abstracted"),
    [
        ("%s = type { i32, float }", "{ i32, float }"),
        ("%s = type <{ i8, double }>", "<{ i8, double }>"),
        ("%s = type {}", "{}"),
        ("%s = type { %t, [3 x %t] }\n%t = type { i8 }", "{ { i8 }, [3 x { i8 }] }"),
        ("%s = type { i32, %s* }", "{ i32, ptr }"),
        ("%s = type { %t*, i8 }\n%t = type { %s*, %s }", "{ ptr, i8 }"),
        ("%s = type { void (%s*, ...)*, i8 addrspace(3)* }", "{ ptr, ptr addrspace(3) }"),
        ("%s = type { ptr addrspace(1), <vscale x 2 x i64> }", "{ ptr addrspace(1), <vscale x 2 x i64> }"),
        ('%s = type { target("aarch64_svcount", i8, 2) }', '{ target("aarch64_svcount", i8, 2) }'),
        ('%s = type { %"a b" }\n%"a b" = type { half }', "{ { half } }"),
    ],
)
def test_structures_are_inlined(types: str, abstracted: str) -> None:
    assert body("  %x = alloca %s", types) == [f"<%ID> = alloca {abstracted}"]


def test_a_structure_inside_itself_is_cut() -> None:
    types = "%s = type { i8, %t }\n%t = type { %s, i16 }"
    assert body("  %x = load %s, ptr %p", types) == ["<%ID> = load {...}, ptr <%ID>"]
    assert body("  %x = load %s, ptr %p", types, max_struct_fields=None) == [
        "<%ID> = load { i8, { {...}, i16 } }, ptr <%ID>"
    ]


def test_the_text_of_nested_structures_is_bounded() -> None:
    types = "".join(f"%s{i} = type {{ %s{i + 1}, %s{i + 1} }}\n" for i in range(64)) + "%s64 = type { i32 }"
    assert body("  %x = alloca %s0", types) == ["<%ID> = alloca {...}"]
    (text,) = body("  %x = alloca %s0", types, max_struct_fields=None)
    assert text.startswith("<%ID> = alloca { {")
    assert "{...}" in text
    assert len(text) < 5000


@pytest.mark.parametrize("limit", [4, 10_000_000, None])
def test_a_structure_of_very_many_elements_is_cut_named_or_not(limit: int | None) -> None:
    elements = ", ".join(["i32"] * 5000)
    cut = ["<%ID> = alloca {...}"]
    assert body("  %x = alloca %s", f"%s = type {{ {elements} }}", max_struct_fields=limit) == cut
    assert body(f"  %x = alloca {{ {elements} }}", max_struct_fields=limit) == cut
    # a megabyte of copies of a long structure does not become a gigabyte
    copies = ", ".join(["%t"] * 200_000)
    few = ", ".join(["i32"] * 600)
    types = f"%s = type {{ {copies} }}\n%t = type {{ {few} }}"
    assert body("  %x = alloca %s", types, max_struct_fields=limit) == cut


def test_a_long_chain_of_structures_is_read_through_pointers() -> None:
    types = "".join(f"%s{i} = type {{ i32, %s{i + 1}* }}\n" for i in range(1000)) + "%s1000 = type { i32 }"
    assert body("  %x = alloca %s0", types) == ["<%ID> = alloca { i32, ptr }"]


def test_immediates() -> None:
    lines = """
  %a = fadd float 1.0, 0x3FF0000000000000
  %b = fadd <2 x double> <double 1.0, double 2.0>, zeroinitializer
  %c = add <2 x i32> splat (i32 3), <i32 1, i32 undef>
  %d = add i64 -5, ptrtoint (ptr @g to i64)
  %e = select i1 true, ptr null, ptr @g
  %h = insertvalue { i32, float } { i32 1, float 2.0 }, i32 7, 0
  %i = getelementptr inbounds nuw [4 x i32], ptr getelementptr (i8, ptr @g, i64 4), i64 0, i32 %n
  %j = freeze half 0xH3C00
  store [3 x i8] c"a\\22\\00", ptr %p
  store i8 u0xFF, ptr poison, align 1"""
    assert body(lines, "@g = global i32 0") == [
        "<%ID> = fadd float <FLOAT>, <FLOAT>",
        "<%ID> = fadd <2 x double> <FLOAT>, zeroinitializer",
        "<%ID> = add <2 x i32> <INT>, <INT>",
        "<%ID> = add i64 <INT>, <@ID>",
        "<%ID> = select i1 <INT>, ptr null, ptr <@ID>",
        "<%ID> = insertvalue { i32, float } <INT>, i32 <INT>, 0",
        "<%ID> = getelementptr inbounds nuw [4 x i32], ptr <@ID>, i64 <INT>, i32 <%ID>",
        "<%ID> = freeze half <FLOAT>",
        "store [3 x i8] <STRING>, ptr <%ID>",
        "store i8 <INT>, ptr poison, align 1",
    ]


def test_flags_stay_and_attributes_go() -> None:
    lines = """
  %a = call fastcc nnan ninf float @h(float noundef nofpclass(nan) 1.0, ptr align 8 byval(%s) %p) #3
  %b = tail call noundef range(i32 0, 9) i32 @g(ptr nonnull dereferenceable(4) %p) [ "deopt"(i32 %n), "x"() ]
  %c = load atomic volatile i32, ptr %p syncscope("agent") monotonic, align 4, !tbaa !0
  %d = fcmp reassoc nsz olt float %a, 2.0
  %e = trunc nuw nsw i32 %n to i8
  call void @v() "one"="two" "three"
  %f = icmp samesign ult i32 %n, 4"""
    before = "%s = type { i8 }\ndeclare float @h(float, ptr)\ndeclare i32 @g(ptr)\ndeclare void @v()\n!0 = !{}"
    assert body(lines, before) == [
        "<%ID> = call nnan ninf float <@ID>(float <FLOAT>, ptr <%ID>)",
        "<%ID> = tail call i32 <@ID>(ptr <%ID>)",
        '<%ID> = load atomic volatile i32, ptr <%ID> syncscope("agent") monotonic, align 4',
        "<%ID> = fcmp reassoc nsz olt float <%ID>, <FLOAT>",
        "<%ID> = trunc nuw nsw i32 <%ID> to i8",
        "call void <@ID>()",
        "<%ID> = icmp samesign ult i32 <%ID>, <INT>",
    ]


def test_values_of_operand_bundles_are_operands() -> None:
    module = read(
        'declare void @g()\ndefine void @f(i32 %n) {\n  call void @g() [ "deopt"(i32 %n, i32 1) ]\n  ret void\n}'
    )
    assert operands_of(module, 1) == ["g", "n"]


@pytest.mark.parametrize(("keep", "text"), [(True, "call i32 @puts(ptr <%ID>)"), (False, "call i32 <@ID>(ptr <%ID>)")])
def test_names_of_callees(keep: bool, text: str) -> None:
    ir = b"declare i32 @puts(ptr)\ndeclare i32 @gets_on(ptr)\ndefine void @f(ptr %p) {\n"
    ir += b"  %a = call i32 @puts(ptr %p)\n  %b = call i32 @gets_on(ptr %p)\n  ret void\n}"
    module = read_module(ir, abstraction=Abstraction(keep_callees=keep))
    assert statements(module)[1:3] == [f"<%ID> = {text}", "<%ID> = call i32 <@ID>(ptr <%ID>)"]


def test_a_function_of_the_module_does_not_keep_a_known_name() -> None:
    module = read("define i32 @puts(ptr %p) {\n  %r = call i32 @puts(ptr %p)\n  ret i32 %r\n}")
    assert statements(module)[1] == "<%ID> = call i32 <@ID>(ptr <%ID>)"


def test_numbers_that_are_not_written() -> None:
    module = read(
        "define i32 @f(i32, i32 %named, i32) {\n  add i32 %0, %1\n  br label %4\n"
        "; <label>:4\n  %5 = add i32 %3, 1\n  ret i32 %5\n}"
    )
    assert operands_of(module, 0) == ["0", "named", "1"]
    assert [module.node_name(int(node)) for node in module.basic_block_label] == ["2", "4"]
    assert operands_of(module, 3) == ["3", None]
    assert module.node_definition[module.operand[module.operand_start[3]]] == 1


def test_names_that_begin_with_a_digit_take_no_number() -> None:
    module = read('define i32 @f(i32) {\n  %"5x" = add i32 %0, 2\n  br label %2\n\n; <label>:2\n  ret i32 1\n}')
    assert [module.node_name(int(node)) for node in module.basic_block_label] == ["1", "2"]


def test_a_quoted_number_is_another_name_than_the_number() -> None:
    module = read('define i32 @f(i32 %"0") {\n  %1 = add i32 %"0", %"2"\n  %"2" = add i32 %1, 1\n  ret i32 %"2"\n}')
    assert operands_of(module, 1) == ["0", "2"]
    assert operands_of(module, 2) == ["1", None]
    assert module.node_definition[module.operand[module.operand_start[1]]] == 0
    assert module.node_definition[module.operand[module.operand_start[1] + 1]] == 2


def test_numbers_too_large_for_the_file_cost_no_memory() -> None:
    module = read_module(b"define i32 @f() {\n  %1000000000 = add i32 1, 2\n  add i32 3, 4\n  ret i32 0\n}\n")
    assert module.num_statements == 4
    module = read_module(b"define i32 @f() {\n  %999999999 = add i32 1, 2\n  add i32 3, 4\n  ret i32 0\n}\n")
    assert module.num_statements == 4


def test_a_value_used_before_the_block_that_defines_it() -> None:
    module = read(
        "define i32 @f() {\nentry:\n  br label %second\nfirst:\n  ret i32 %x\n"
        "second:\n  %x = add i32 1, 2\n  br label %first\n}"
    )
    use = module.operand[module.operand_start[2]]
    assert module.node_name(int(use)) == "x"
    assert module.node_kind[use] == NodeKind.RESULT
    assert module.node_definition[use] == 3
    assert module.operand_definition.tolist()[module.operand_start[2]] == 3


def test_names_are_unescaped_and_never_confused() -> None:
    module = read(
        b'@"a\\22\\5C" = global i32 0\n@"\xff" = global i32 0\ndefine void @"\\C3\\A9"() {\n'
        b'"b c":\n  store i32 1, ptr @"a\\22\\5C"\n  store i32 1, ptr @"\xff"\n  br label %"b;{"\n"b;{":\n  ret void\n}'
    )
    assert module.function_names == ("é",)
    assert [module.node_name(node) for node in range(module.num_nodes)] == ['a"\\', "\\xff", "é", "b c", "b;{"]


def test_debug_locations() -> None:
    module = read(
        """
define void @f(ptr %p) !dbg !3 {
  #dbg_declare(ptr %p, !5, !DIExpression(), !7)
  %x = load i32, ptr %p, align 4, !dbg !7
  call void @llvm.dbg.value(metadata i32 %x, metadata !5, metadata !DIExpression()), !dbg !7
  %y = add i32 %x, 1, !dbg !DILocation(line: 99, column: 2, scope: !3)
    #dbg_value(i32 %y, !5, !DIExpression(DW_OP_plus_uconst, 1), !8)
  store i32 %y, ptr %p, align 4, !tbaa !4, !dbg !8
  store i32 %y, ptr %p, align 4, !dbg !12345
  ret void
}
declare void @llvm.dbg.value(metadata, metadata, metadata)
!8 = distinct !DILocation(line: 1000000, scope: !3)
!3 = distinct !DISubprogram(name: "f", line: 5, unit: !6)
!4 = !{!"x"}
!5 = !DILocalVariable(name: "x", scope: !3, line: 44)
!6 = distinct !DICompileUnit(language: DW_LANG_C99)
!7 = !DILocation(line: 17, column: 1, scope: !3)
"""
    )
    assert [text.split("<%ID> = ")[-1].split()[0] for text in statements(module)] == [
        "define", "load", "add", "store", "store", "ret",
    ]  # fmt: skip
    assert module.source_line.tolist() == [0, 17, 99, 1000000, 0, 0]


PROGRAM = (
    '; a comment\n%s = type { i8 }\n@g = constant [2 x i8] c"a\\00", align 1\n'
    "define i32 @f(i32 %a) #0 {\nentry:\n  %b = add i32 %a, 1, !dbg !1\n  switch i32 %b, label %x [\n"
    "    i32 1, label %x\n  ]\nx:\n  ret i32 %b\n}\n"
    "attributes #0 = { nounwind }\n!1 = !DILocation(line: 3, scope: !2)\n!2 = !{}\n"
)


def test_a_string_attribute_at_the_end_of_a_call_ends_with_its_line() -> None:
    assert body('  call void @g() "a"="b"\n  store i32 %n, ptr %p', "declare void @g()") == [
        "call void <@ID>()",
        "store i32 <%ID>, ptr <%ID>",
    ]


def test_bitcode_in_apples_wrapper() -> None:
    raw = (Path(__file__).parents[2] / "data" / "ir" / "tree.llvm11.bc").read_bytes()
    wrapper = b"".join(number.to_bytes(4, "little") for number in (0x0B17C0DE, 0, 20, len(raw), 7))
    assert statements(read_module(wrapper + raw)) == statements(read_module(raw))
    assert read_module(wrapper + raw).read_via == "bitcode"


def test_what_the_direct_reader_refuses_is_read_from_llvms_printing() -> None:
    # deeper than the direct reader goes; LLVM prints opaque pointers, and the chain is gone
    types = "".join(f"%s{i} = type {{ i32, %s{i + 1} addrspace(1)* }}\n" for i in range(300)) + "%s300 = type { i32 }\n"
    module = read_module((types + "define void @f() {\n  %x = alloca %s0\n  ret void\n}").encode())
    assert module.read_via == "llvm"
    assert statements(module)[1] == "<%ID> = alloca { i32, ptr addrspace(1) }, align 8"


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a module.ll"
    path.write_text(PROGRAM)
    module = read_module(path)
    assert module.name == str(path)
    assert module.num_lines == PROGRAM.count("\n")
    assert read_module(str(path), name="other").name == "other"
    assert read_module(PROGRAM.encode()).name == "<bytes>"
    with refuses(InputError, "no such file"):
        read_module(tmp_path / "missing.ll")
    with refuses(InputError, "can't be read"):
        read_module(tmp_path)


def test_kernels_that_metadata_marks() -> None:
    text = b"""
define void @device(ptr %x) {
  ret void
}
define void @"ker nel"(ptr %x) {
  ret void
}
define void @_Z6kernelPf(ptr %x) {
  ret void
}
!nvvm.annotations = !{!0, !1, !2}
!0 = !{ptr @_Z6kernelPf, !"kernel", i32 1}
!1 = !{ptr @"ker nel", !"kernel", i32 1}
!2 = !{ptr @device, !"maxntidx", i32 1}
"""
    module = read_module(text)
    marked = dict(zip(module.function_names, module.function_is_kernel.tolist(), strict=True))
    assert marked == {"device": False, "ker nel": True, "_Z6kernelPf": True}


BODY = """define spir_func void @__clang_ocl_kern_imp_k(i32 %x) !kernel_arg_addr_space !0 {
  %twice = shl i32 %x, 1
  ret void
}
"""
KERNEL = """define spir_kernel void @k(i32 %x) !kernel_arg_addr_space !0 {{
  {}
  ret void
}}
"""
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
    callees = [module.callee[statement] for statement in range(module.num_statements) if module.callee[statement] >= 0]
    assert callees == ([module.function_node[0]] if more else [])


def test_a_body_without_its_kernel_is_a_function() -> None:
    module = read_module(f"{BODY}!0 = !{{}}\n".encode())
    assert module.function_names == ("__clang_ocl_kern_imp_k",)


FIXTURES = Path(__file__).parents[2] / "data" / "ir"


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*.ll")) + sorted(FIXTURES.glob("*.bc")), ids=lambda path: path.name
)
def test_the_source_of_a_statement_starts_where_it_does(path: Path) -> None:
    module = read_module(path)
    assert module.num_statements > 10
    for statement in range(module.num_statements):
        source, opcode = module.statement_source(statement), OPCODES[module.opcode[statement]]
        if opcode == "define":
            function = int(module.statement_function[statement])
            assert f"@{module.function_names[function]}(" in source
            assert not source.startswith("define")
            assert source.endswith("{")
            continue
        if module.result[statement] >= 0:
            name, _, source = source.partition(" = ")
            assert name.strip().strip('%"') == module.node_name(int(module.result[statement]))
        words = source.split()
        assert words[words[0] in ("tail", "musttail", "notail")] == opcode


def test_the_source_of_a_statement_is_its_first_line_and_all_of_a_switch() -> None:
    text = """declare void @g()
define dso_local i32 @f(i32 %n) #0 personality ptr @g {
entry:
  switch i32 %n, label %a [
    i32 0, label %b
    i32 1, label %b
  ]
a:
  invoke void @g()
          to label %b unwind label %b ; either way
b:
  ret i32 -7, !dbg !3
}
attributes #0 = { nounwind }
!3 = !{}"""
    module = read(text)
    assert [module.statement_source(statement).strip() for statement in range(module.num_statements)] == [
        "dso_local i32 @f(i32 %n) #0 personality ptr @g {",
        "switch i32 %n, label %a [\n    i32 0, label %b\n    i32 1, label %b\n  ]",
        "invoke void @g()",
        "ret i32 -7, !dbg !3",
    ]


def test_the_source_of_metadata() -> None:
    module = read("!1 = !{i32 1}\n!10 = !{i32 10}\ndefine void @f() !x !1 {\n  ret void, !x !0\n}\n!0 = !{!1, !10}")
    found = [module.metadata_source(number) for number in (0, 1, 10, 2, 100)]
    assert found == ["!0 = !{!1, !10}", "!1 = !{i32 1}", "!10 = !{i32 10}", "", ""]


def test_the_source_of_a_global_variable() -> None:
    module = read("""@a = internal constant i32 1
@"b c" = addrspace(3) global i32 undef
@0 = global ptr @a
@d = external global i32
define ptr @f() {
  %x = load i32, ptr @a
  %y = load i32, ptr @"b c"
  %z = load ptr, ptr @0
  %w = load i32, ptr @d
  ret ptr @f
}""")
    used = [int(module.operand[module.operand_start[statement]]) for statement in range(1, module.num_statements)]
    assert [module.global_source(node) for node in used] == [
        "@a = internal constant i32 1",
        '@"b c" = addrspace(3) global i32 undef',
        "@0 = global ptr @a",
        "@d = external global i32",
        "",
    ]


def test_the_first_kernel_is_the_first_function_marked_as_one():
    plain, kernel = "define void @f() {\n  ret void\n}\n", "define spir_kernel void @k() {\n  ret void\n}\n"
    assert read_module((plain + kernel + kernel.replace("@k", "@l")).encode()).first_kernel == 1
    assert read_module(plain.encode()).first_kernel == 0


def test_arguments_of_functions_that_allocate_are_read() -> None:
    text = b"declare ptr @realloc(ptr allocptr, i64)\ndeclare void @free(ptr allocptr noundef captures(none))\n"
    text += b"declare ptr @aligned_alloc(i64 allocalign, i64)\ndefine void @f(ptr %p) {\n  call void @free(ptr %p)\n"
    module = read_module(text + b"  ret void\n}\n")
    assert module.function_names == ("f",)
    assert module.num_statements == 3
