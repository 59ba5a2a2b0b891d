"""The reader refuses nearly all that LLVM refuses: mutants of real modules, and damage of every kind by hand."""

import pytest

from fuzz.differential import accepts, compare


@pytest.mark.parametrize("faults", [False, True])
def test_few_mutants_that_llvm_refuses_are_read(faults):
    found = compare(600, seed=7, faults=faults)
    assert found.refused > 400
    assert found.rate < 0.05, found.accepted


FUNCTION = "define i32 @f(i32 %x) {{\n  {}\n  ret i32 %x\n}}\ndeclare void @g(i32)\n"


@pytest.mark.parametrize(
    "text",
    [
        "define hello world void @f() {\n  ret void\n}\n",
        "define void @f() nounwind9 {\n  ret void\n}\n",
        "define void @f() align abc {\n  ret void\n}\n",
        "define void @f() comdat {\n  ret void\n}\n",
        "declare void @g(i32 deronnull)\n",
        "declare void @g(i32) oops\n",
        "attributes #0 = { nounwind9 }\n",
        'attributes #0 = { "key"="value"\n',
        "@g = psivate global i32 0\n",
        "@g = global i32 0, alien 4\n",
        "@g = global [2 x i32] [i32 1, 2]\n",
        "@g = global i32 add (i32 1 i32 2)\n",
        "@g = global i32 zeroinitializer@h = global i32 0\n@\n",
        "!0 = #{!1}\n",
        "!0 = !{i32 1, 2}\n",
        "!0 = !{ia4 0}\n",
        "$c = comdat sometimes\n",
        'target tripled = "x"\n',
        "%t = type { i8, %u* t.node }\n",
        FUNCTION.format("%y = add i99999999999 1, 2"),
        FUNCTION.format("%y = add i0 1, 2"),
        FUNCTION.format("%y = icmp equal i32 %x, 0"),
        FUNCTION.format("%y = load i32, ptr null, align 3"),
        FUNCTION.format("%y = load i32, ptr null, align abc"),
        FUNCTION.format("%y = load i32, ptr addrspace(nan) null"),
        FUNCTION.format("%y = load i32, ptr null, !tbaa 7"),
        FUNCTION.format("%y = atomicrmw add ptr null, i32 1"),
        FUNCTION.format("%y = add i32 12abc, 1"),
        FUNCTION.format("%y = fadd double 1.0e, 1.0"),
        FUNCTION.format("%y = fadd double 0xZZ, 1.0"),
        FUNCTION.format("%y = getelementptr inboun i8, ptr null, i32 1"),
        FUNCTION.format("call void @g(i32 %x) and more"),
        FUNCTION.format("call hello void @g(i32 %x)"),
        FUNCTION.format("call void @g(i32 %x) #"),
        FUNCTION.format("call void (i32, oops) @g(i32 %x)"),
        FUNCTION.format("%7 = add i32 %x, 1\n  %3 = add i32 %x, 1"),
    ],
)
def test_damage_is_refused(text):
    assert not accepts(text.encode())
