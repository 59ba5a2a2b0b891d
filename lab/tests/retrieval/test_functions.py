"""The same function again: what is taken out of modules, pools of a small project, and figures of every method."""

import json

import numpy as np
import pytest

import ncc
import ncc_lab
from lab.tests.rooms import LEAST, Units, all_representations, anonymous, own_functions_of
from ncc.errors import InputError
from tests.rooms import load_embedding, optimize_if_needed, read_module
from tests.support.refuses import refuses

MODULE = b"""; ModuleID = 'secret.c'
source_filename = "secret.c"
$inlined = comdat any
@.str = private constant [7 x i8] c"hidden\\00"
@state = external global i32
declare i32 @printf(ptr, ...)
declare void @llvm.trap()
declare void @elsewhere()
define internal i32 @secret(i32 %x) {
  %y = call i32 (ptr, ...) @printf(ptr @.str)
  %z = load i32, ptr @state
  call void @elsewhere()
  call void @llvm.trap()
  ret i32 %y
}
define linkonce_odr void @inlined() comdat($inlined) {
  %a = call i32 @secret(i32 1)
  ret void
}
"""
COUNT = "int {}(const int *a, int n) {{ int c = 0; for (int i = 0; i < n; i++) if (a[i] {}) c += {}; return c; }}\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    shared = "static " + COUNT.format("shared", "> 9", "a[i]")
    call = "int use_{0}(int *a, int n) {{ return shared(a, n) + shared(a + 1, n - 1) * {0} + own_{0}(a, n); }}\n"
    for number, test in enumerate(["> 3", "== 100", "% 7 == 1"]):
        own = "static " + COUNT.format(f"own_{number}", test, "i * a[i]")
        text = shared + own + call.format(number) + "int *tables[] = {0};\n".replace("tables", f"tables_{number}")
        (folder / f"{number}.c").write_text(text.replace("static ", "static __attribute__((noinline)) "))
    (folder / "broken.c").write_text("int f( {")
    return folder


@pytest.mark.parametrize("keep", [False, True])
def test_the_authors_words_are_taken_out(keep):
    text, names, internal = anonymous(MODULE, keep_callees=keep)
    assert names == ("secret", "inlined")
    assert internal.tolist() == [True, False]
    for word in (b"secret", b"hidden", b"inlined"):
        assert word not in text
    assert b"@llvm.trap" in text
    for word in (b"@printf", b"@elsewhere", b"@state"):
        assert (word in text) == keep
    module = read_module(text, abstraction=load_embedding().abstraction)
    assert module.num_statements == read_module(MODULE).num_statements
    ncc.embed(text, options=ncc.CompileOptions(verify=True))  # and it is IR still


def test_a_text_that_was_taken_out_has_no_value():
    look_up = b"""@.str = private unnamed_addr constant [7 x i8] c"hidden\\00", align 1
define i8 @at(i64 %i) #0 {
  %p = getelementptr [7 x i8], ptr @.str, i64 0, i64 %i
  %c = load i8, ptr %p
  ret i8 %c
}
attributes #0 = { noinline optnone }
"""
    text, _, _ = anonymous(look_up, keep_callees=False)
    abstraction = load_embedding().abstraction
    optimised = optimize_if_needed(read_module(text, abstraction=abstraction), abstraction)
    assert optimised is not None
    assert any("= load i8" in one for one in optimised.texts)


def test_callees_that_are_hidden_read_the_same():
    other = MODULE.replace(b"elsewhere", b"anything")
    abstraction = load_embedding().abstraction
    tables = [
        own_functions_of(ir, "a", abstraction, keep_callees=keep).table
        for ir in (MODULE, other)
        for keep in (False, True)
    ]
    assert np.array_equal(tables[0].literal, tables[2].literal)
    assert not np.array_equal(tables[1].literal, tables[3].literal)
    assert "<%ID> = tail call" not in tables[0].texts
    assert not any("printf" in text for text in tables[0].texts)
    assert any("printf" in text for text in tables[1].texts)


def test_small_functions_and_those_of_the_library_are_left_out():
    found = own_functions_of(MODULE, "a", load_embedding().abstraction, keep_callees=True)
    assert found.names == ("secret",)  # of exactly as many statements as are asked for
    assert np.diff(found.table.start).tolist() == [LEAST + 1]
    library = MODULE.replace(b"@secret", b"@_ZNSt6vectorIiSaIiEE9push_backERKi")
    assert not own_functions_of(library, "a", load_embedding().abstraction, keep_callees=True).names


def test_functions_of_a_project_find_themselves(project, tmp_path):
    found = ncc_lab.evaluate_functions([project], method=["TF-IDF*", "opcode*"], ir=tmp_path)
    assert {one.protocol for one in found.results} == {
        f"{whose} functions, of all: -O0 asks, -O2 answers, names of callees {names}"
        for whose in ("internal", "all")
        for names in ("hidden", "kept")
    }
    figures = json.loads(json.dumps(found.to_dict()))["protocols"]
    for result in found.results:
        entry = figures[result.protocol]
        row = entry["methods"][result.method]
        assert list(entry["failures"]) == [str(project / "broken.c")]
        assert row["recall_at_1"] == row["by_project"][project.name]["recall_at_1"]
    # three of a kind, and the one that all files share
    assert f"{project.name} 7 of 7" in found.to_text()
    assert found.scores[found.scores.figure == "recall_at_1"].value.max() > 1.5 / 7


def test_projects_without_functions_are_refused(tmp_path):
    with refuses(InputError, "source"):
        ncc_lab.evaluate_functions([tmp_path])
    (tmp_path / "a.c").write_text("int f(void) { return 1; }")
    with refuses(InputError, "functions"):
        ncc_lab.evaluate_functions([tmp_path], ir=tmp_path / "ir")


def test_the_wheel_gives_vectors_and_survives_what_it_can_not_read():
    wheel = next((one for one in all_representations(load_embedding()) if one.name.endswith("(its wheel)")), None)
    if not wheel:
        pytest.skip("needs the ir2vec wheel")
    table = own_functions_of(MODULE, "a", load_embedding().abstraction, keep_callees=True).table
    three = Units(
        table.rows(np.array([0, 0, 0])), [(MODULE, "secret"), (b"define nonsense", None), (MODULE, None)].__getitem__
    )
    vectors = wheel.vectors(three)
    assert vectors.shape == (3, 300)
    assert vectors.any(axis=1).tolist() == [True, False, True]
