"""``ncc embed``: every kind of input, every output, and inputs that can't be read among others that can."""

import csv
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import ncc as package
from tests.rooms import write_vectors

FIELDS = {"input", "ok", "error", "num_statements", "unknown_rate", "vectors", "dim"}


def _rows(out):
    return [json.loads(line) for line in out.splitlines()]


def test_json_is_an_object_a_line_with_the_named_fields(ncc, code):
    finished = ncc("embed", code / "tree.clang22.ll", code / "dot.c", "--json")
    assert (finished.code, finished.err) == (0, "")
    rows = _rows(finished.out)
    assert [row["input"] for row in rows] == [str(code / "tree.clang22.ll"), str(code / "dot.c")]
    for row in rows:
        expected = package.embed(row["input"])
        assert set(row) >= FIELDS
        assert (row["ok"], row["error"]) == (True, None)
        assert row["num_statements"] == expected.num_statements
        assert row["unknown_rate"] == expected.unknown_rate
        assert row["dim"] == expected.dim
        assert row["vectors"].keys() == {"module"}
        assert np.array(row["vectors"]["module"]) == pytest.approx(expected.vector[None], abs=1e-7)


def test_answers_say_how_they_were_pooled(ncc, code):
    for pooling in ("mean", "encoder"):
        (row,) = _rows(ncc("embed", code / "dot.c", "--json", "--pooling", pooling).out)
        assert row["pooling"] == pooling
        expected = package.embed(code / "dot.c", pooling=pooling)
        assert np.array(row["vectors"]["module"][0]) == pytest.approx(expected.vector, abs=1e-6)
        assert f"numbers by pooling {pooling} from" in ncc("embed", code / "dot.c", "--pooling", pooling).out
    assert _rows(ncc("embed", code / "dot.c", "--json", "--level", "statement").out)[0]["pooling"] is None
    finished = ncc("embed", code / "dot.c", "--pooling", "sum")
    assert (finished.code, finished.err) == (2, "ncc: pooling is 'sum'; expected one of mean, encoder\n")


@pytest.mark.parametrize("level", ["module", "function", "statement"])
def test_levels(ncc, code, level):
    (row,) = _rows(ncc("embed", code / "two_kernels.cl", "--json", "--level", level).out)
    expected = package.embed(code / "two_kernels.cl")
    assert np.array(row["vectors"][level]) == pytest.approx(expected.at(level), abs=1e-7)
    assert row["labels"] == list(expected.labels(level))
    assert {name: row[name] for name in ("function", "index", "line") if name in row} == expected.places(level)


def test_names_of_cpp_are_demangled_beside_the_mangled_ones(ncc, tmp_path):
    (tmp_path / "a.cpp").write_text("template <class T> T twice(T x) { return x + x; }\ntemplate int twice(int);\n")
    assert "\n  int twice<int>(int)\t" in ncc("embed", tmp_path / "a.cpp", "--level", "function").out
    (row,) = _rows(ncc("embed", tmp_path / "a.cpp", "--level", "function", "--json").out)
    assert (row["labels"], row["demangled"]) == (["_Z5twiceIiET_S0_"], ["int twice<int>(int)"])


def test_people_get_a_summary_and_the_first_numbers(ncc, code):
    finished = ncc("embed", code / "two_kernels.cl", "--level", "function")
    assert finished.code == 0
    assert "two_kernels.cl: " in finished.out
    assert "statements" in finished.out
    assert "% unknown" in finished.out
    assert "\n  scale\t" in finished.out


def test_a_folder_is_searched_for_everything_that_ncc_reads(ncc, code):
    finished = ncc("embed", code, "--json")
    assert finished.code == 0
    names = [row["input"].removeprefix(f"{code}{os.sep}") for row in _rows(finished.out)]
    assert names == sorted(names)
    assert set(names) == {
        "deep/no_includes.cu", "deep/shapes.cpp", "dot.c", "tree.clang22.ll", "tree.llvm11.bc", "two_kernels.cl"
    }  # fmt: skip


@pytest.mark.parametrize(("pattern", "number"), [("*.ll", 1), ("tree*", 2), ("**/*.c??", 1), ("deep/*.cu", 1)])
def test_globs_are_expanded_where_the_shell_did_not(ncc, code, pattern, number):
    finished = ncc("embed", f"{code}/{pattern}", "--json")
    assert finished.code == 0
    assert len(_rows(finished.out)) == number


def test_a_file_with_a_name_like_a_glob_is_a_file(ncc, code):
    path = (code / "dot.c").rename(code / "dot[1].c")
    assert ncc("embed", path, "--json").code == 0


def test_standard_input(ncc, ir, code):
    for name in ("tree.clang22.ll", "tree.llvm11.bc"):
        finished = ncc("embed", "-", "--json", stdin=(ir / name).read_bytes())
        assert finished.code == 0
        (row,) = _rows(finished.out)
        assert row["input"] == "-"
        assert np.array(row["vectors"]["module"]) == pytest.approx(package.embed(ir / name).vector[None], abs=1e-7)
    assert ncc("embed", "-", "--language", "c", stdin=(code / "dot.c").read_bytes()).code == 0
    finished = ncc("embed", "-", stdin=b"")
    assert (finished.code, finished.err) == (1, "ncc: standard input is empty\n")


def test_crlf_line_ends_are_read(ncc, ir, tmp_path):
    path = tmp_path / "crlf.ll"
    path.write_bytes((ir / "tree.clang22.ll").read_bytes().replace(b"\n", b"\r\n"))
    (row,) = _rows(ncc("embed", path, "--json").out)
    assert np.array(row["vectors"]["module"]) == pytest.approx(package.embed(ir / "tree.clang22.ll").vector[None])


def test_options_reach_the_compiler(ncc, tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "own.h").write_text("#define BASE 1\n")
    path = tmp_path / "code" / "a.c"
    path.parent.mkdir()
    path.write_text(
        '#include "own.h"\n#ifndef EXTRA\n#error none\n#endif\n#if BASE\nint f(int x) { return x + EXTRA; }\n#endif\n'
    )
    arguments = [
        "embed",
        path,
        "-I",
        tmp_path / "inc",
        "-D",
        "EXTRA=3",
        "--flag",
        "-Wall",
        "-O",
        "2",
        "--timeout",
        "30",
    ]
    assert ncc(*arguments).code == 0
    assert ncc(*arguments[:-2], "--language", "c++").code == 0
    finished = ncc("embed", path)
    assert finished.code == 1
    assert "own.h" in finished.err


def test_another_embedding_is_used(ncc, code, tmp_path):
    from tests.rooms import load_embedding, save_embedding

    save_embedding(load_embedding(), tmp_path / "embedding")
    assert ncc("embed", code / "dot.c", "--embedding", tmp_path / "embedding").code == 0
    for option, file in (("--embedding", "embedding.json"), ("--encoder", "encoder.json")):
        finished = ncc("embed", code / "dot.c", option, tmp_path / "nowhere")
        assert finished.code == 1
        assert f"nowhere/{file}: can't be read" in finished.err


# ---- files of vectors


def test_what_could_be_read_is_written_beside_what_could_not(ncc, code, tmp_path):
    (code / "broken.c").write_text("int f( {\n")
    finished = ncc("embed", code, "-o", tmp_path / "out.npz")
    assert finished.code == 1
    assert finished.err.startswith(f"ncc: {code / 'broken.c'}: does not compile")
    with np.load(tmp_path / "out.npz") as table:
        assert len(table["vectors"]) == 6


# ---- wrong usage


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--level", "word"], "'word' is not one of 'module', 'function', 'statement'"),
        (["-o", "out.txt"], "out.txt: extension '.txt' is not one of .npz .json .csv .parquet"),
        (["-o", "out"], "out: extension '' is not one of"),
        (["-O", "9"], "unknown optimization level '9'"),
        (["--language", "rust"], "unknown language 'rust'; expected one of c, c++, opencl, cuda"),
        (["--timeout", "0"], "the time limit (timeout_s) is 0.0; expected"),
        (["--timeout", "soon"], "--timeout"),
        (["--unheard-of"], "--unheard-of"),
    ],
)
def test_wrong_usage_is_2(ncc, code, arguments, message):
    finished = ncc("embed", code / "dot.c", *arguments)
    assert (finished.code, finished.out) == (2, "")
    assert message in finished.err


# ---- inputs that can't be read


def test_a_bad_input_does_not_stop_the_others(ncc, bad, code):
    path, message = bad
    finished = ncc("embed", code / "tree.clang22.ll", path, code / "tree.llvm11.bc", "--json")
    first, failed, last = _rows(finished.out)
    assert finished.code == 1
    assert (first["ok"], last["ok"]) == (True, True)
    assert set(failed) >= FIELDS
    assert (failed["ok"], failed["vectors"], failed["num_statements"]) == (False, None, None)
    assert message in failed["error"]
    told, _, command = failed["error"].partition("\ncommand: ")  # which is long, and each of many files has one
    assert told in finished.err
    assert not command or command not in finished.err
    assert finished.err.endswith("ncc: 1 of 3 inputs failed\n")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("{code}/nothing", "no such file or folder"),
        ("{code}/*.xyz", "no file matches this pattern"),
        ("{code}/nothing/**/*.c", "no file matches this pattern"),
        ("{code}/none", "no file in this folder holds code: .C .a .bc .c"),
        ("x" * 5000, "no such file or folder"),
        ("a\0b", "no such file or folder"),
    ],
)
def test_arguments_that_lead_nowhere(ncc, code, argument, message):
    (code / "none").mkdir()
    finished = ncc("embed", argument.format(code=code), code / "dot.c", "--json")
    assert finished.code == 1
    assert message in finished.err
    assert [row["ok"] for row in _rows(finished.out)] == [False, True]


def test_nothing_that_a_terminal_obeys_comes_out_of_a_file(ncc, tmp_path):
    (tmp_path / "evil.ll").write_bytes(b"\x1b]0;title\x07\x1b[2J\xc2\x9b31m\n")
    for options in ([], ["--json"]):
        finished = ncc("embed", tmp_path / "evil.ll", *options)
        assert finished.code == 1
        assert "\\u001b]0;title\\u0007" in finished.err
        assert not [letter for letter in finished.err + finished.out if ord(letter) < 32 and letter != "\n"]
        assert "\x9b" not in finished.err + finished.out


def test_names_hold_nothing_that_a_terminal_obeys(ncc, tmp_path):
    folder = tmp_path / "code"
    folder.mkdir()
    name = "a\u202eb\x1b[31m\nncc: fine\u200d.ll"
    (folder / name).write_text('define void @"f\\0A\\E2\\80\\AEg"() {\n  ret void\n}\n')
    (folder / f"x{name}").write_text("nothing\n")
    for options in (["--level", "function"], ["--json"]):
        finished = ncc("embed", folder, *options)
        assert finished.code == 1
        assert all(line.isprintable() for line in (finished.out + finished.err).replace("\t", " ").splitlines())
        assert "ncc: fine" not in [line[:9] for line in finished.err.splitlines()]
    assert json.loads(finished.out.splitlines()[0])["input"] == str(folder / name)


def test_cells_that_look_like_formulas_get_an_apostrophe(tmp_path):
    labels = ["=1+1", "+f", "-f", "@f", "\tf", "\rf", "f=", "'f", ""]
    write_vectors(tmp_path / "out.csv", labels, labels, np.full((len(labels), 2), -0.5, np.float32))
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    shown = ["'=1+1", "'+f", "'-f", "'@f", "'\tf", "'\rf", "f=", "'f", ""]
    assert rows == [[label, label, "-0.5", "-0.5"] for label in shown]


# ---- worker processes


def test_workers_answer_as_one_process_does(ncc, code, tmp_path):
    shutil.copytree(code, tmp_path / "again")
    for options in (["--json"], ["--level", "function"], ["--json", "--level", "statement"]):
        alone, crew = (ncc("embed", code, tmp_path / "again", *options, *more) for more in ([], ["--jobs", "2"]))
        assert crew == alone
    ncc("embed", code, "-o", tmp_path / "alone.npz")
    ncc("embed", code, "-o", tmp_path / "crew.npz", "--jobs", "2")
    with np.load(tmp_path / "alone.npz") as one, np.load(tmp_path / "crew.npz") as other:
        assert all((one[name] == other[name]).all() for name in one)


def test_standard_input_is_read_beside_workers(ncc, ir):
    text = (ir / "tree.clang22.ll").read_bytes()
    finished = ncc("embed", ir / "tree.clang22.ll", "-", ir / "tree.clang22.ll", "--jobs", "2", "--json", stdin=text)
    answers = [json.loads(line) for line in finished.out.splitlines()]
    assert [answer["input"] for answer in answers] == [str(ir / "tree.clang22.ll"), "-", str(ir / "tree.clang22.ll")]
    assert answers[0]["vectors"] == answers[1]["vectors"]


def test_inputs_that_end_their_workers_cost_themselves_in_order(ncc, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "samples" / "deadly"))
    names = [f"f{number}{'_killed' if number % 3 == 1 else ''}" for number in range(8)]
    for name in names:
        (tmp_path / f"{name}.ll").write_text("define void @f() {\n  ret void\n}\n")
    finished = ncc("embed", tmp_path, "--json", "--jobs", "2")
    answers = [json.loads(line) for line in finished.out.splitlines()]
    assert finished.code == 1
    assert [Path(answer["input"]).stem for answer in answers] == names
    assert [answer["ok"] for answer in answers] == ["killed" not in name for name in names]
    assert answers[1]["error"] == (
        f"{tmp_path}/f1_killed.ll: its worker was killed by signal 9 (SIGKILL), for want of memory perhaps"
    )


@pytest.mark.parametrize("command", ["embed", "graph", "classify", "predict-device"])
def test_an_answer_says_that_nothing_verified_types_that_disagree(ncc, tmp_path, command):
    path = tmp_path / "bad.ll"
    path.write_text("define spir_kernel i32 @f(ptr addrspace(1) %a) {\n  ret i64 0\n}\n")
    told = f"{path}: not verified: line 2: 'ret i64 0' in a function of i32; --verify asks LLVM"
    finished = ncc(command, path)
    assert (finished.code, finished.out.splitlines()[-1]) == (0, f"  {told}")
    finished = ncc(command, path, "--json")
    assert (finished.code, _rows(finished.out)[0]["warning"]) == (0, told)
    if command != "graph":
        assert ncc(command, path, path, "--json", "--jobs", "2").out == 2 * finished.out
    refused = ncc(command, path, "--verify")
    assert refused.code == 1
    assert refused.err.startswith(f"ncc: {path}:2:7: value doesn't match function result type 'i32'")
    path.write_text("define spir_kernel void @f(ptr addrspace(1) %a) {\n  ret void\n}\n")
    verified = ncc(command, path, "--verify", "--json")
    assert verified.code == 0, verified.err
    assert "warning" not in _rows(verified.out)[0]


def _table(path):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path)


@pytest.mark.parametrize("level", ["module", "function", "statement"])
def test_batches_of_workers_give_the_table_of_one_process(ncc, code, tmp_path, level):
    (code / "bad.c").write_text("int f( {\n")
    arguments = ["embed", code, code / "none.c", "--level", level, "-o"]
    one = ncc(*arguments, tmp_path / "one.parquet")
    two = ncc(*arguments, tmp_path / "two.parquet", "--jobs", "2")
    assert (one.code, two.code) == (1, 1)
    assert two.out == one.out
    assert sorted(two.err.splitlines()) == sorted(one.err.splitlines())
    tables = [_table(tmp_path / f"{name}.parquet") for name in ("one", "two")]
    assert tables[0].equals(tables[1])
    assert tables[0].schema.metadata == tables[1].schema.metadata
    assert not (tmp_path / "two.parquet.parts").exists()


def test_batches_that_are_done_are_not_read_again(ncc, code, tmp_path, monkeypatch):
    from tests.rooms import Pool, run_inline, shards

    monkeypatch.setattr(shards, "SHARD_FILES", 1)
    real = shards.Shard.run
    seen: list[str] = []

    def run(shard, failed):
        seen.append(shard.files[0].path)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return real(shard, failed)

    def run_here(_, tasks):
        for task in tasks:
            run_inline(task)
            yield

    monkeypatch.setattr(Pool, "run", run_here)
    monkeypatch.setattr(shards.Shard, "run", run)
    arguments = ["embed", code, "--jobs", "2", "-o", tmp_path / "out.parquet"]
    assert ncc(*arguments).code != 0
    assert not (tmp_path / "out.parquet").exists()
    assert (tmp_path / "out.parquet.parts").is_dir()
    assert ncc(*arguments).code == 0
    assert len(seen) == len(set(seen)) + 1
    assert len(_table(tmp_path / "out.parquet")) == len(set(seen))


def test_a_scheduler_needs_a_table_to_go_on_with(ncc, code):
    finished = ncc("embed", code, "--scheduler", "tcp://127.0.0.1:1")
    assert (finished.code, finished.err) == (2, "ncc: --scheduler goes with -o FILE.parquet\n")


def test_the_compilers_command_is_for_machines(ncc, tmp_path, monkeypatch):
    (tmp_path / "bad.c").write_text("int f(void) { return lost; }\n")
    finished = ncc("embed", tmp_path / "bad.c", "--json")
    assert "undeclared identifier 'lost'" in finished.err
    assert "command: " not in finished.err
    assert "command: " in json.loads(finished.out)["error"]
    monkeypatch.setenv("NCC_DEBUG", "1")
    assert "command: " in ncc("embed", tmp_path / "bad.c").err


def test_only_what_was_compiled_has_commands(ncc, tmp_path):
    for name in ("bad.c", "worse.c"):
        (tmp_path / name).write_text("int f(void) { return lost; }\n")
    assert ncc("embed", "none.c", "nothing.c").err.endswith("ncc: 2 of 2 inputs failed\n")
    assert ncc("embed", tmp_path / "bad.c", tmp_path / "worse.c").err.endswith("--json tells the commands\n")


def test_help_names_no_types_of_python(ncc):
    for command in (["embed"], ["measure"], ["train", "classify"], ["data", "fetch"], ["evaluate", "times"]):
        shown = ncc(*command, "--help").out
        assert not re.search(r"<[a-z]|\[\[|\{", shown)
