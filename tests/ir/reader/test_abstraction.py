"""What a statement keeps by choice: structures up to a limit, element indices, buckets of integers, names."""

from typing import Any

import pytest

from ncc.errors import InputError
from tests.rooms import Abstraction, Module, read_module

TYPES = "%big = type { float, float, float, float, float }\n%pair = type { i32, ptr }\n%outer = type { i8, %pair }\n"
BEFORE = TYPES + (
    "@g = global i32 0\ndeclare %big @make(i32, ...)\ndeclare void @take(%big)\ndeclare i32 @puts(ptr)\n"
    "declare float @llvm.fabs.f32(float)\n"
)


def read(text: str, **options: Any) -> Module:
    module = read_module(text.encode(), abstraction=Abstraction(**options))
    assert module.read_via == "direct"
    return module


def body(lines: str, **options: Any) -> list[str]:
    module = read(
        f"{BEFORE}define void @f(ptr %p, i32 %n, i64 %m, <4 x float> %v) {{\n{lines}\n  ret void\n}}\n", **options
    )
    return [module.texts[i] for i in module.text_id.tolist()][1:-1]


def allocated(kind: str, limit: int | None) -> str:
    (text,) = body(f"  %x = alloca {kind}", max_struct_fields=limit)
    return text.removeprefix("<%ID> = alloca ")


# ---- structures


@pytest.mark.parametrize(
    ("kind", "num_fields"),
    [
        ("{}", 0),
        ("{ i32 }", 1),
        ("{ i32, float }", 2),
        ("<{ i8, double }>", 2),
        ("{ [9 x i32], <4 x float>, <vscale x 2 x i64> }", 3),
        ("{ ptr addrspace(3), [2 x [3 x i8]] }", 2),
        ("{ i32, { i8, i8 } }", 3),
        ("{ { i8, <{ i16, half }> }, i32 }", 4),
        ("{ i32, [7 x { i8, i8 }], i8 }", 4),
        ("{ i8, i16, i32, i64 }", 4),
        ("<{ i8, i16, i32, i64, ptr }>", 5),
    ],
)
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4, 5, None])
def test_structures_are_whole_up_to_the_limit(kind: str, num_fields: int, limit: int | None) -> None:
    if limit is None or num_fields <= limit:
        assert allocated(kind, limit) == kind
    else:
        assert allocated(kind, limit) == ("<{...}>" if kind.startswith("<") else "{...}")


def test_a_named_structure_is_cut_like_a_literal_one() -> None:
    assert allocated("%outer", None) == allocated("%outer", 3) == "{ i8, { i32, ptr } }"
    assert allocated("%outer", 2) == "{...}"
    assert allocated("%big", 4) == allocated("{ float, float, float, float, float }", 4) == "{...}"


@pytest.mark.parametrize("kind", ["{ %big }", "{ i32, %big }", "{ [2 x %big] }", "{ { i8, { <{ ptr, %big }> } } }"])
def test_a_structure_around_one_that_is_cut_is_cut(kind: str) -> None:
    assert allocated(kind, 4) == "{...}"
    assert allocated(f"[3 x {kind}]", 4) == "[3 x {...}]"
    assert allocated(kind, 7) == kind.replace("%big", "{ float, float, float, float, float }")


def test_what_a_pointer_points_to_is_no_field() -> None:
    assert allocated("{ %big*, { i8, i8, i8 }*, void (i32, i32, i32)* }", 3) == "{ ptr, ptr, ptr }"
    assert allocated("%big*", 0) == "ptr"


@pytest.mark.parametrize("parameters", ["void, 1", "void, 1, 0, 0, 0, 0, 0, 0"])
@pytest.mark.parametrize("name", ["spirv.Image", "amdgcn.named.barrier"])
def test_a_target_type_is_one_field(name: str, parameters: str) -> None:
    kind = f'{{ i32, target("{name}", {parameters}) }}'
    assert allocated(kind, 4) == kind


EVERYWHERE = """
  %a = alloca %big
  %b = getelementptr inbounds %big, ptr %p, i64 0, i32 1
  %c = load %big, ptr %p
  %d = call %big (i32, ...) @make(i32 1, %big %c)
  call void @take(%big %d)
  store %big %d, ptr %p
  %e = insertvalue %big undef, float 1.0, 1
  %f = extractvalue [2 x %big] undef, 0, 2
  %h = select i1 true, %big %c, %big %d
  %i = freeze %big %h
  %j = va_arg ptr %p, %big"""


def test_structures_are_cut_wherever_a_statement_names_them() -> None:
    texts = [
        "<%ID> = alloca {...}",
        "<%ID> = getelementptr inbounds {...}, ptr <%ID>, i64 <INT>, i32 <INT>",
        "<%ID> = load {...}, ptr <%ID>",
        "<%ID> = call {...} <@ID>(i32 <INT>, {...} <%ID>)",
        "call void <@ID>({...} <%ID>)",
        "store {...} <%ID>, ptr <%ID>",
        "<%ID> = insertvalue {...} undef, float <FLOAT>, 1",
        "<%ID> = extractvalue [2 x {...}] undef, 0, 2",
        "<%ID> = select i1 <INT>, {...} <%ID>, {...} <%ID>",
        "<%ID> = freeze {...} <%ID>",
        "<%ID> = va_arg ptr <%ID>, {...}",
    ]
    assert body(EVERYWHERE) == texts
    whole = [text.replace("{...}", "{ float, float, float, float, float }") for text in texts]
    assert body(EVERYWHERE, max_struct_fields=None) == body(EVERYWHERE, max_struct_fields=5) == whole


def test_structures_are_cut_in_the_heads_of_functions_and_in_phis() -> None:
    module = read(
        f"{TYPES}define %big @f(%big %a, %outer %b) {{\n  br label %x\nx:\n"
        "  %y = phi %big [ %a, %0 ], [ zeroinitializer, %x ]\n  br label %x\n}\n"
    )
    assert module.texts[0] == "define {...} <@ID>({...} <%ID>, { i8, { i32, ptr } } <%ID>)"
    assert "<%ID> = phi {...} [ <%ID>, <LABEL> ], [ zeroinitializer, <LABEL> ]" in module.texts


@pytest.mark.parametrize("limit", [0, 2, 4, None])
def test_typed_pointers_read_the_same(limit: int | None) -> None:
    typed = """
  %a = getelementptr %outer, %outer* %o, i64 0, i32 1
  %b = load %big, %big* %q
  %c = call %big (i32, ...) @make(i32 1)
  store %pair* null, %pair** %r
  %d = bitcast %outer* %o to { i8, i8, i8, i8, i8 }*"""
    opaque = (
        typed.replace("%outer* %o", "ptr %o")
        .replace("%big* %q", "ptr %q")
        .replace("%pair* null, %pair** %r", "ptr null, ptr %r")
        .replace("{ i8, i8, i8, i8, i8 }*", "ptr")
    )
    arguments = {typed: "%outer* %o, %big* %q, %pair** %r", opaque: "ptr %o, ptr %q, ptr %r"}
    texts = [
        read(f"{BEFORE}define void @f({arguments[lines]}) {{{lines}\n  ret void\n}}\n", max_struct_fields=limit).texts
        for lines in (typed, opaque)
    ]
    assert texts[0] == texts[1]
    outer = "{ i8, { i32, ptr } }" if limit in (4, None) else "{...}"
    assert f"<%ID> = getelementptr {outer}, ptr <%ID>, i64 <INT>, i32 <INT>" in texts[0]


def test_a_module_of_large_structures_has_fewer_distinct_statements() -> None:
    lines = "\n".join(f"  %x{n} = alloca {{ {', '.join(['i32'] * n)} }}" for n in range(1, 20))
    assert len(set(body(lines))) == 5
    assert len(set(body(lines, max_struct_fields=None))) == 19


@pytest.mark.parametrize("limit", [-1, -100])
def test_a_negative_limit_is_refused(limit: int) -> None:
    with pytest.raises(InputError, match=f"max_struct_fields is {limit}; expected 0 or more"):
        Abstraction(max_struct_fields=limit)


# ---- elements of vectors


@pytest.mark.parametrize("keep_immediates", [False, True])
@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_the_index_of_an_element_stays_without_its_type(kind: str, keep_immediates: bool) -> None:
    lines = f"""
  %a = extractelement <4 x float> %v, {kind} 0
  %b = insertelement <4 x float> %v, float %a, {kind} 3
  %c = insertelement <16 x float> zeroinitializer, float undef, {kind} 12"""
    assert body(lines, keep_immediates=keep_immediates) == [
        "<%ID> = extractelement <4 x float> <%ID>, 0",
        "<%ID> = insertelement <4 x float> <%ID>, float <%ID>, 3",
        "<%ID> = insertelement <16 x float> zeroinitializer, float undef, 12",
    ]


def test_an_index_that_is_computed_is_an_operand_of_its_type() -> None:
    ir = (
        "define float @f(<4 x float> %v, i32 %n, i64 %m) {\n  %a = extractelement <4 x float> %v, i32 %n\n"
        "  %b = insertelement <4 x float> %v, float %a, i64 %m\n  %c = extractelement <4 x float> %b, i32 1\n"
        "  ret float %c\n}\n"
    )
    module = read(ir)
    assert [module.texts[i] for i in module.text_id.tolist()][1:-1] == [
        "<%ID> = extractelement <4 x float> <%ID>, i32 <%ID>",
        "<%ID> = insertelement <4 x float> <%ID>, float <%ID>, i64 <%ID>",
        "<%ID> = extractelement <4 x float> <%ID>, 1",
    ]

    def operands(statement: int) -> list[str | None]:
        nodes = module.operand[module.operand_start[statement] : module.operand_start[statement + 1]].tolist()
        return [module.node_name(node) if node >= 0 else None for node in nodes]

    assert [operands(i) for i in (1, 2, 3)] == [["v", "n"], ["v", "a", "m"], ["b", None]]


def test_other_indices_of_elements() -> None:
    lines = """
  %a = extractelement <4 x float> %v, i32 poison
  %b = extractelement <4 x float> %v, i32 ptrtoint (ptr @g to i32)
  %c = extractelement <4 x float> %v, i32 -1"""
    assert body(lines) == [
        "<%ID> = extractelement <4 x float> <%ID>, i32 poison",
        "<%ID> = extractelement <4 x float> <%ID>, i32 <@ID>",
        "<%ID> = extractelement <4 x float> <%ID>, i32 <INT>",
    ]


# ---- immediates


def bucket(number: str, kind: str = "i64", **options: Any) -> str:
    (text,) = body(f"  store {kind} {number}, ptr %p", **options)
    return text.removeprefix(f"store {kind} ").removesuffix(", ptr <%ID>")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("0", "<INT:0>"),
        ("1", "<INT:1>"),
        ("-1", "<INT:-1>"),
        ("2", "<INT:2>"),
        ("4", "<INT:2^n>"),
        ("64", "<INT:2^n>"),
        (str(2**31), "<INT:2^n>"),
        (str(2**59), "<INT:2^n>"),
        ("3", "<INT>"),
        ("100", "<INT>"),
        (str(2**31 - 1), "<INT>"),
        ("-2", "<INT:->"),
        ("-7", "<INT:->"),
        (str(-(2**31)), "<INT:->"),
        ("9" * 18, "<INT>"),
        ("9" * 19, "<INT>"),
        ("1" + "0" * 60, "<INT>"),
    ],
)
def test_integers_are_kept_in_buckets(number: str, expected: str) -> None:
    assert bucket(number, keep_immediates=True) == expected
    assert bucket(number) == bucket(number, keep_immediates=False) == "<INT>"


@pytest.mark.parametrize(
    ("number", "expected"),
    [(2**60, "<INT:2^n>"), (2**62, "<INT:2^n>"), (-(2**63), "<INT:->"), (-(2**62) - 1, "<INT:->")],
)
def test_large_powers_of_two_and_large_negative_numbers_are_in_their_buckets(number: int, expected: str) -> None:
    assert bucket(str(number), keep_immediates=True) == expected


def test_truth_values_are_one_and_zero() -> None:
    assert [bucket(word, "i1", keep_immediates=True) for word in ("true", "false")] == ["<INT:1>", "<INT:0>"]
    assert [bucket(word, "i1") for word in ("true", "false")] == ["<INT>", "<INT>"]


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("double", "1.000000e+00"),
        ("float", "0x3FF0000000000000"),
        ("half", "0xH3C00"),
        ("bfloat", "0xR3F80"),
        ("x86_fp80", "0xK3FFF8000000000000000"),
        ("<2 x float>", "<float 1.0, float 2.0>"),
        ("<2 x double>", "splat (double 1.0)"),
    ],
)
def test_floating_point_numbers_have_no_buckets(kind: str, number: str) -> None:
    assert bucket(number, kind, keep_immediates=True) == bucket(number, kind) == "<FLOAT>"


def test_constants_made_of_others_have_no_buckets() -> None:
    assert bucket("<i32 1, i32 1>", "<2 x i32>", keep_immediates=True) == "<INT>"
    assert bucket("splat (i32 1)", "<2 x i32>", keep_immediates=True) == "<INT>"
    assert bucket("zeroinitializer", "i32", keep_immediates=True) == "zeroinitializer"
    assert bucket("add (i64 ptrtoint (ptr @g to i64), i64 1)", keep_immediates=True) == "<@ID>"


def test_buckets_stand_wherever_an_integer_does() -> None:
    lines = """
  %a = getelementptr [4 x i32], ptr %p, i64 0, i32 1
  %b = add i32 %n, -1
  %c = icmp eq i32 4, %n
  %d = select i1 true, i32 0, i32 8
  %e = call i32 @puts(ptr noundef null)
  %h = call %big (i32, ...) @make(i32 signext 16, i1 false, i8 -3)
  %i = alloca i8, i64 2, align 16
  %j = extractvalue [2 x i32] undef, 1
  %k = cmpxchg ptr %p, i32 0, i32 3 seq_cst seq_cst
  %l = shufflevector <4 x float> %v, <4 x float> poison, <4 x i32> <i32 0, i32 0, i32 0, i32 0>"""
    assert body(lines, keep_immediates=True) == [
        "<%ID> = getelementptr [4 x i32], ptr <%ID>, i64 <INT:0>, i32 <INT:1>",
        "<%ID> = add i32 <%ID>, <INT:-1>",
        "<%ID> = icmp eq i32 <INT:2^n>, <%ID>",
        "<%ID> = select i1 <INT:1>, i32 <INT:0>, i32 <INT:2^n>",
        "<%ID> = call i32 @puts(ptr null)",
        "<%ID> = call {...} <@ID>(i32 <INT:2^n>, i1 <INT:0>, i8 <INT:->)",
        "<%ID> = alloca i8, i64 <INT:2>, align 16",
        "<%ID> = extractvalue [2 x i32] undef, 1",
        "<%ID> = cmpxchg ptr <%ID>, i32 <INT:0>, i32 <INT> seq_cst seq_cst",
        "<%ID> = shufflevector <4 x float> <%ID>, <4 x float> poison, <4 x i32> <INT>",
    ]


def test_the_case_of_a_switch_that_is_written_is_the_last() -> None:
    lines = """
  switch i32 %n, label %a [
    i32 1, label %a
    i32 -5, label %a
    i32 {last}, label %a
  ]
a:"""
    for last, expected in (("0", "<INT:0>"), ("7", "<INT>"), ("-1", "<INT:-1>")):
        (text,) = body(lines.replace("{last}", last), keep_immediates=True)
        assert text == f"switch i32 <%ID>, label <LABEL> [ i32 {expected}, label <LABEL> ]"


def test_the_kinds_of_a_phi_are_told_apart_by_their_buckets() -> None:
    ir = (
        "define i32 @f() {\n  br label %x\nx:\n"
        "  %y = phi i32 [ 1, %0 ], [ 0, %x ], [ 5, %x ], [ 1, %x ]\n  br label %x\n}\n"
    )
    written = "<%ID> = phi i32 [ <INT:0>, <LABEL> ], [ <INT:1>, <LABEL> ], [ <INT>, <LABEL> ]"
    assert written in read(ir, keep_immediates=True).texts
    assert "<%ID> = phi i32 [ <INT>, <LABEL> ]" in read(ir).texts


# ---- all together

MIXED = """
  %a = call i32 @puts(ptr %p)
  %b = call float @llvm.fabs.f32(float 1.0)
  %c = load %big, ptr %p
  %d = add i32 %n, 1"""


def test_what_is_kept_by_default() -> None:
    assert Abstraction() == Abstraction(keep_callees=True, keep_immediates=False, max_struct_fields=4)
    assert body(MIXED) == [
        "<%ID> = call i32 @puts(ptr <%ID>)",
        "<%ID> = call float @llvm.fabs(float <FLOAT>)",
        "<%ID> = load {...}, ptr <%ID>",
        "<%ID> = add i32 <%ID>, <INT>",
    ]


def test_the_published_abstraction_keeps_structures_and_casts_and_nothing_else() -> None:
    paper = Abstraction.paper()
    assert paper == Abstraction(keep_callees=False, keep_immediates=False, max_struct_fields=None, keep_casts=True)
    assert paper.known_callees is None
    module = read_module(
        f"{BEFORE}define void @f(ptr %p, i32 %n) {{{MIXED}\n  ret void\n}}\n".encode(), abstraction=paper
    )
    assert [module.texts[i] for i in module.text_id.tolist()][1:-1] == [
        "<%ID> = call i32 <@ID>(ptr <%ID>)",
        "<%ID> = call float <@ID>(float <FLOAT>)",
        "<%ID> = load { float, float, float, float, float }, ptr <%ID>",
        "<%ID> = add i32 <%ID>, <INT>",
    ]


def test_registers_that_are_variables_keep_their_names():
    text = b"""@__spirv_BuiltInWorkgroupId = external addrspace(1) global <3 x i64>
@mine = global i64 0
define i64 @f() {
  %1 = load <3 x i64>, ptr addrspace(1) @__spirv_BuiltInWorkgroupId
  %2 = load i64, ptr @mine
  ret i64 %2
}
"""
    load = "<%ID> = load <3 x i64>, ptr addrspace(1) "
    assert read_module(text).texts[1:3] == (f"{load}@__spirv_BuiltInWorkgroupId", "<%ID> = load i64, ptr <@ID>")
    assert read_module(text, abstraction=Abstraction.paper()).texts[1] == f"{load}<@ID>"
