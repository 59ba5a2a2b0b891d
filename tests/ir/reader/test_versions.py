"""Every type and constant of every version's language, wherever it may stand, read by the reader alone."""

import llvmlite.binding
import pytest

from ncc.errors import IRError
from tests.ir.reader.language import VERSIONS, Form, constants_of, globals_of, types_of, written
from tests.rooms import native, print_canonically

CASES = [
    (version, typed) for version in VERSIONS for typed in (True, False) if (version < 17 if typed else version > 14)
]
AT_HAND = llvmlite.binding.llvm_version_info[0]
IDS = [f"{version:g} with {'typed' if typed else 'opaque'} pointers" for version, typed in CASES]


def _refused(text: str) -> str:
    """Why the direct reader refuses a module; empty if it doesn't."""
    try:
        native.read_text(text.encode(), known_callees=None)
    except native.IRSyntaxError as error:
        return f"{error} at {text.encode()[error.offset :][:60]!r}"
    return ""


def _with_type(version: float, form: Form) -> str:
    kind = form.text
    inner = "i8" if "vscale" in kind else f"[2 x {kind}]"
    field = "" if "vscale" in kind else "  %field = getelementptr %wrapped, «%wrapped» null, i64 0, i32 1\n"
    attributes = f"byval({kind}) align 8" if version >= 9 else "byval align 8"
    return f"""
%wrapped = type {{ {kind}, {inner}, «{kind}» }}
declare {kind} @declared({kind}, «{kind}», «{kind} ({kind})»)
declare void @by_value(«{kind}» {attributes})
define {kind} @t({kind} %a, «{kind}» %p) {{
  %slot = alloca {kind}, align 8
  %loaded = load {kind}, «{kind}» %slot, align 8
  store {kind} %loaded, «{kind}» %p
  %called = call {kind} @t({kind} %a, «{kind}» %p)
  %again = call {kind} («i8», ...) @v(«i8» null, {kind} %called)
  %which = select i1 true, {kind} %a, {kind} %called
  %address = getelementptr inbounds {kind}, «{kind}» %slot, i64 1
{field}  %in = insertvalue {{ {kind}, i8 }} undef, {kind} %which, 0
  %out = extractvalue {{ {kind}, i8 }} %in, 0
  br label %end
end:
  %joined = phi {kind} [ %out, %0 ]
  ret {kind} %joined
}}
declare {kind} @v(«i8», ...)
"""


def _with_constant(version: float, form: Form) -> str:
    kind, constant = form.kind, form.text
    bundle = f' [ "tag"({kind} {constant}) ]' if version >= 3.8 else ""
    is_scaled = "vscale" in kind
    in_global = f"@c = global {kind} {constant}\n@in = constant {{ i8, {kind} }} {{ i8 1, {kind} {constant} }}\n"
    prefix = "" if is_scaled else f" prefix {kind} {constant}"
    return f"""
{"" if is_scaled else in_global}
!named = !{{!0}}
!0 = !{{{kind} {constant}}}
declare void @taken({kind}, {kind})
define {kind} @t({kind} %a, «{kind}» %p){prefix} {{
  store {kind} {constant}, «{kind}» %p
  call void @taken({kind} {constant}, {kind} %a){bundle}
  %which = select i1 true, {kind} {constant}, {kind} %a
  %in = insertvalue {{ {kind}, i8 }} undef, {kind} {constant}, 0
  br label %end
end:
  %joined = phi {kind} [ {constant}, %0 ]
  ret {kind} {constant}
}}
"""


def _modules(version: float, typed: bool) -> dict[str, str]:
    begin = globals_of(version)
    made = {str(form): _with_type(version, form) for form in types_of(version)}
    made |= {str(form): _with_constant(version, form) for form in constants_of(version)}
    return {name: written(begin + text, typed) for name, text in made.items()}


@pytest.mark.parametrize(("version", "typed"), CASES, ids=IDS)
def test_every_form_of_a_version_is_read(version, typed):
    modules = _modules(version, typed)
    assert len(modules) > 120
    assert {name: reason for name, text in modules.items() if (reason := _refused(text))} == {}


def test_the_table_is_right_about_the_version_at_hand():
    """As LLVM itself sees it; what it calls not sized or not valid there is a matter of the position."""
    refused = {}
    for name, text in _modules(AT_HAND, typed=False).items():
        try:
            print_canonically(text.encode())
        except IRError as error:
            refused[name] = str(error)
    assert refused == {}
