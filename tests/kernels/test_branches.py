"""How likely conditions hold that are not known."""

import pytest

import ncc
from tests.rooms import branch_probability

_IR = b"""
define void @f(i32 %a, float %x, ptr %p) {{
  %c = {condition}
  br i1 %c, label %yes, label %no
yes:
  store i32 %a, ptr %p
  br label %no
no:
  ret void
}}
"""


@pytest.mark.parametrize(
    ("condition", "share"),
    [
        ("fcmp uno float %x, 0.000000e+00", 0.01),
        ("icmp eq i32 %a, 7", 0.1),
        ("icmp ne i32 %a, 7", 0.9),
        ("icmp slt i32 %a, 0", 0.1),
        ("icmp slt i32 %a, 1", 0.1),
        ("icmp sgt i32 %a, 0", 0.9),
        ("icmp eq i32 %a, 0", 0.5),
        ("icmp slt i32 %a, 100", 0.5),
        ("fcmp olt float %x, 0.000000e+00", 0.1),
    ],
)
def test_what_is_compared_tells_how_likely_a_branch_is(condition, share):
    module = ncc.load_module(_IR.replace(b"{{", b"{").replace(b"}}", b"}").replace(b"{condition}", condition.encode()))
    (statement,) = [one for one in module.body(0) if module.opcode_name(one) in ("icmp", "fcmp")]
    assert branch_probability(module, int(module.result[statement])) == share
