"""What every verb of the command line promises, whatever it computes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import ncc
from ncc.errors import COMMAND_LINE
from tests.contract.cases import (
    BAD,
    CASES,
    EMPTY_GRAPHS,
    IR,
    NOT_TYPED,
    PER_INPUT,
    SOURCES,
    Case,
    api_answer,
    command_line,
    option_of,
)
from tests.support.flat import signature
from tests.support.goldens import differences
from tests.support.refuses import check_message
from tests.support.verbs import Finished, run_here, start

each_verb = pytest.mark.parametrize("case", PER_INPUT, ids=lambda case: case.words[0])


def run_case(case: Case, *words: object, stdin: bytes | None = None) -> Finished:
    return run_here(*case.words, *command_line(case.settings), *words, stdin=stdin)


def strip_input(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name not in ("input", "labels")} for row in rows]


# ---- answers


@each_verb
def test_json_is_what_the_api_says(case):
    finished = run_case(case, case.inputs[0], case.inputs[0], "--json")
    assert (finished.code, finished.err) == (0, "")
    expected = json.loads(json.dumps(api_answer(case, case.inputs[0], **case.settings)))
    for row in finished.rows:
        assert (row["input"], row["ok"], row["error"]) == (str(case.inputs[0]), True, None)
        assert {name: row[name] for name in expected} == expected
    assert len(finished.rows) == 2


@each_verb
@pytest.mark.usefixtures("bad_files")
def test_bad_inputs_are_told_and_the_others_are_answered(case, bad_files):
    good = case.inputs[0]
    finished = run_case(case, good, *(bad_files / name for name in BAD), good, "--json")
    first, *rows, last = finished.rows
    assert finished.code == 1
    assert first["ok"] and [*differences(first, last)] == []
    answered = EMPTY_GRAPHS if case.verb == "build_graph" else ()
    for row, (name, (_, noun)) in zip(rows, BAD.items(), strict=True):
        assert row["input"] == str(bad_files / name)
        assert row["ok"] == (name in answered), name
        if not row["ok"]:
            check_message(row["error"], str(bad_files / name), noun)
            message = row["error"].partition(COMMAND_LINE)[0]
            assert f"ncc: {message}\n" in finished.err
    failed = len(BAD) - len(answered)
    messages = [line for line in finished.err.splitlines() if line.startswith("ncc: ")]
    assert len(messages) == failed + 1
    assert f"{failed} of {len(BAD) + 2} " in messages[-1]


@each_verb
def test_a_bad_input_alone_is_one_message(case, bad_files):
    finished = run_case(case, bad_files / "syntax.ll")
    assert (finished.code, finished.out) == (1, "")
    assert finished.err.startswith(f"ncc: {bad_files / 'syntax.ll'}:3:")
    assert finished.err.count("ncc: ") == 1


@each_verb
@pytest.mark.parametrize("words", [["--unheard-of"], ["--timeout", "soon"], ["--language", "rust"]], ids=str)
def test_wrong_usage_is_2(case, words):
    finished = run_case(case, case.inputs[0], *words)
    assert (finished.code, finished.out) == (2, "")
    assert words[0] in finished.err or words[-1] in finished.err
    assert "Traceback" not in finished.err


@pytest.mark.parametrize("words", ["embed", "unheard-of", "train unheard-of", "data", "search", "index x"])
def test_commands_that_are_unknown_or_not_complete_are_wrong_usage(words):
    finished = run_here(*words.split())
    assert finished.code == 2
    assert "Traceback" not in finished.err


# ---- kinds of input


@pytest.fixture(params=PER_INPUT, ids=lambda case: case.words[0])
def verb_and_answer(request) -> tuple[Case, bytes, list[str], list[dict]]:
    """A verb, the bytes of an input, the options that name its language, and its answer."""
    case: Case = request.param
    good = case.inputs[0]
    language = {".cl": ["--language", "opencl"], ".c": ["--language", "c"], ".cu": ["--language", "cuda"]}.get(
        good.suffix, []
    )
    return case, good.read_bytes(), language, strip_input(run_case(case, good, "--json").rows)


def test_standard_input_and_named_pipes(request, verb_and_answer, tmp_path):
    case, content, language, expected = verb_and_answer
    if case.verb == "predict_gpu":
        request.applymarker(pytest.mark.xfail(strict=True, reason="sizes in host code are not read from a stream"))
    finished = run_case(case, "-", *language, "--json", stdin=content)
    assert finished.code == 0 and [*differences(strip_input(finished.rows), expected)] == []
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["/bin/sh", "-c", f"cat '{case.inputs[0]}' > '{pipe}'"]) as writer:
        finished = run_case(case, pipe, *language, "--json")
        writer.wait(timeout=30)
    assert finished.code == 0 and [*differences(strip_input(finished.rows), expected)] == []
    empty = run_case(case, "-", stdin=b" \n")
    assert (empty.code, empty.out, empty.err) == (1, "", "ncc: standard input is empty\n")


def test_folders_odd_names_and_line_ends(verb_and_answer, tmp_path):
    case, content, _, expected = verb_and_answer
    suffix = case.inputs[0].suffix
    folder = tmp_path / "code"
    (folder / "deep").mkdir(parents=True)
    names = [os.fsdecode(b"caf\xe9" + os.fsencode(suffix)), f"dos{suffix}", f"deep/a[1]{suffix}"]
    for name, data in zip(names, (content, content.replace(b"\n", b"\r\n"), content), strict=True):
        (folder / name).write_bytes(data)
    (folder / "notes.txt").write_text("not code\n")
    finished = run_case(case, folder, "--json")
    assert finished.code == 0, finished.err
    assert [*differences(strip_input(finished.rows), expected * 3)] == []
    assert sorted(row["input"].rpartition("/")[2] for row in finished.rows)[:2] == [f"a[1]{suffix}", names[0]]


@each_verb
def test_arguments_that_lead_nowhere(case, tmp_path):
    (tmp_path / "empty").mkdir()
    words = [*(tmp_path / name for name in ("nothing", "*.xyz", "empty")), "x" * 5000, "a\0b", "/dev/zero", ""]
    finished = run_case(case, *words, case.inputs[0], "--json")
    *failed, good = finished.rows
    assert (finished.code, [row["ok"] for row in failed], good["ok"]) == (1, [False] * len(words), True)
    for row in failed:
        check_message(row["error"].replace("x" * 5000, "x"))


def test_an_archive_is_read_as_its_members_are(tmp_path):
    modules = [IR / "tree.llvm11.bc", IR / "saxpy.llvm15.bc"]
    subprocess.run([sys.executable, "-m", "ziglang", "ar", "rcs", tmp_path / "two.a", *modules], check=True)
    finished = run_here("embed", tmp_path / "two.a", "--json", "--level", "function")
    assert finished.code == 0, finished.err
    members = list(map(ncc.embed, modules))
    assert sum(row["num_statements"] for row in finished.rows) == sum(code.num_statements for code in members)


# ---- workers, interrupts and streams

DEADLY = """
import os, sys
if "embed" not in sys.orig_argv:
    def die(event, arguments):
        if event == "open" and "deadly.ll" in str(arguments[0]):
            os.abort()
    sys.addaudithook(die)
"""


@each_verb
def test_workers_answer_as_one_process_does(case, bad_files):
    inputs = [case.inputs[0], bad_files / "syntax.ll", case.inputs[0]]
    assert run_case(case, *inputs, "--json", "--jobs", "2") == run_case(case, *inputs, "--json")


def test_an_input_that_kills_its_worker_fails_alone(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(DEADLY)
    for name in ("a.ll", "deadly.ll", "z.ll"):
        shutil.copy(IR / "tree.clang22.ll", tmp_path / name)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = ["embed", tmp_path, "--json", "--jobs", "2"]
    with start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        out, err = process.communicate(timeout=100)
    rows = [json.loads(line) for line in out.splitlines()]
    assert (process.returncode, [row["ok"] for row in rows]) == (1, [True, False, True]), err
    check_message(rows[1]["error"], str(tmp_path / "deadly.ll"), "SIGABRT")


@pytest.mark.parametrize("case", [PER_INPUT[0], PER_INPUT[2]], ids=lambda case: case.words[0])
@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_is_130_and_no_traceback(case, tmp_path):
    os.mkfifo(tmp_path / "pipe.ll")
    words = [*case.words, *command_line(case.settings), tmp_path / "pipe.ll"]
    process = start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ))
    with process, (tmp_path / "pipe.ll").open("wb"):  # opened as soon as the command reads from it
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"ncc: interrupted")
    assert err.count(b"\n") == 1


TREE = IR / "tree.clang22.ll"
STREAMS = [["data", "list"], ["--help"], ["embed", TREE]]


def finish(words: list[object], **options: Any) -> tuple[int, bytes | None, bytes | None]:
    with start(*words, **options) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("words", STREAMS, ids=lambda words: str(words[0]))
def test_outputs_that_are_closed_or_full(words):
    assert finish(words, stderr=subprocess.PIPE, preexec_fn=lambda: os.close(1)) == (0, None, b"")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        code, _, err = finish(words, stdout=closed, stderr=subprocess.PIPE)
    assert code in (0, 1) and err == b""  # nobody reads, which is no failure of the command
    with Path("/dev/full").open("wb") as full:
        code, _, err = finish(words, stdout=full, stderr=subprocess.PIPE)
    assert (code, err) == (1, b"ncc: standard output can't be written: No space left on device\n")


def test_messages_that_nobody_reads_and_input_that_is_closed():
    words = ["embed", "nothing.ll", TREE, "--json"]
    with Path("/dev/full").open("wb") as full:
        ended = [
            finish(words, stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2)),
            finish(words, stdout=subprocess.PIPE, stderr=full),
        ]
    for code, out, _ in ended:
        assert (code, [json.loads(line)["ok"] for line in (out or b"").splitlines()]) == (1, [False, True])
    closed = finish(["embed", "-"], stderr=subprocess.PIPE, preexec_fn=lambda: os.close(0))
    assert closed == (1, None, b"ncc: standard input is empty\n")


# ---- names that would like to be something else

NAME = """</script><img src=x onerror=alert(1)>"a" 'b' {{ 7*7 }} &lt; \x1b[31m\u202e=1+1"""
QUOTED = NAME.replace('"', r"\22").replace("\x1b", r"\1B").replace("\u202e", r"\E2\80\AE")
MODULE = f"""define spir_kernel void @"{QUOTED}"(ptr addrspace(1) %"<b>p") {{
"<i>entry":
  store i32 0, ptr addrspace(1) %"<b>p"
  ret void
}}
"""


@pytest.fixture
def hostile(tmp_path) -> Path:
    (tmp_path / "code").mkdir()
    path = tmp_path / "code" / "=a\u202eb\x1b[31m\nncc: fine.ll"
    path.write_text(MODULE, encoding="utf-8")
    return path


def is_plain(text: str) -> bool:
    """Whether a terminal does nothing but show it."""
    return all(line.isprintable() for line in text.replace("\t", " ").split("\n"))


@pytest.mark.parametrize("case", PER_INPUT[:-1], ids=lambda case: case.words[0])
def test_names_change_neither_json_nor_text(case, hostile):
    (row,) = run_case(case, hostile, "--json").rows
    assert row["input"] == str(hostile)
    if "kernels" in row:
        assert [kernel["kernel"] for kernel in row["kernels"]] == [NAME]
    for words in ([], ["--json"]):
        finished = run_case(case, hostile, hostile.parent / "none\x1b[31m\u202e.ll", *words)
        assert is_plain(finished.out) and is_plain(finished.err)
        assert not [line for line in finished.err.splitlines() if line.startswith("ncc: fine")]


def test_names_stay_names_in_files(hostile, tmp_path):
    texts = {}
    for ending in (".graphml", ".json", ".html"):
        assert run_here("graph", hostile, "-o", tmp_path / f"out{ending}").code == 0
        texts[ending] = (tmp_path / f"out{ending}").read_text(encoding="utf-8")
    names = {node["name"] for node in json.loads(texts[".json"])["nodes"]}
    assert any(NAME in name for name in names)
    assert "\x1b" not in texts[".graphml"]
    ElementTree.fromstring(texts[".graphml"])
    assert "<img" not in texts[".html"] and "onerror" not in re.sub(r"&[a-z]+;", "", texts[".html"])
    assert run_here("graph", hostile, "--function", NAME, "-o", tmp_path / "out.svg").code == 0
    picture = ElementTree.fromstring((tmp_path / "out.svg").read_text(encoding="utf-8"))
    assert not [element for element in picture.iter() if element.tag.endswith(("img", "script"))]
    assert run_here("embed", hostile, "--level", "function", "-o", tmp_path / "out.csv").code == 0
    assert not re.search(r"(?m)(^|,)\"?=", (tmp_path / "out.csv").read_text(encoding="utf-8"))


def test_names_stay_names_in_notebooks(hostile):
    (answer,), (advice,), code = ncc.predict_device(hostile), ncc.predict_coarsening(hostile), ncc.embed(hostile)
    near = code.embedding.nearest("<%ID> = add i32 <b>hello</b>, <INT>")
    of_kernels = (answer, answer.curve(), answer.explain(), advice)
    framed = ncc.build_graph(hostile)._repr_html_()
    assert framed.startswith('<iframe sandbox="allow-scripts" ') and framed.count("<") == 2
    for result in (*of_kernels, code, ncc.classify(hostile), near):
        shown = result._repr_html_()
        assert shown.startswith("<table>") and shown.endswith("</table>")
        assert "<img" not in shown and "<b>hello" not in shown
    assert all("&lt;/script&gt;&lt;img" in result._repr_html_() for result in of_kernels)
    assert answer.verdict in answer._repr_html_()
    assert "add i32 &lt;b&gt;hello&lt;/b&gt;, &lt;INT&gt; is not in the vocabulary" in near._repr_html_()


# ---- help


def list_commands(*group: str) -> list[str]:
    """Every command, as it is typed, from the help of its group."""
    listed = run_here(*group, "--help").out.partition("\nOptions:\n")[2]
    names = [(*group, name) for name in re.findall(r"^  ([a-z][a-z-]*)  ", listed, re.MULTILINE)]
    return [command for name in names for command in list_commands(*name)] or [" ".join(group)]


@pytest.mark.parametrize("command", list_commands())
def test_help_explains_every_parameter(command):
    finished = run_here(*command.split(), "--help")
    assert (finished.code, finished.err) == (0, "")
    own, _, compiling = finished.out.partition("\n\nOptions:")[2].partition("\n\nCompiler options:")
    blocks = re.split(r"\n  (?=\S)", own + compiling)
    options = [" ".join(block.split()) for block in blocks[1:]]
    assert any(option.startswith("-h, --help") for option in options)
    for option in options:
        assert option.endswith((".", "]")), option
    functions = [case for case in CASES if " ".join(case.words) == command]
    for case in functions:
        typed = {option_of(name) for name in signature(case.verb) if name not in NOT_TYPED}
        assert typed <= set(re.findall(r"--[a-z-]+", finished.out)), case.verb


def test_the_version_is_told():
    assert run_here("--version") == Finished(0, f"ncc {ncc.__version__}\n", "")


# ---- the verbs that are not about single inputs


def test_an_index_is_made_searched_and_told(bad_files, tmp_path):
    (tmp_path / "code").mkdir()
    shutil.copy(SOURCES / "dot.c", tmp_path / "code")
    shutil.copy(bad_files / "broken.cpp", tmp_path / "code")
    made = run_here("index", tmp_path / "code", "-o", tmp_path / "index", "--json")
    index = ncc.load_index(tmp_path / "index")
    (row,) = made.rows
    assert (made.code, row["num_functions"], list(row["failures"])) == (1, 2, [str(tmp_path / "code" / "broken.cpp")])
    check_message(next(iter(row["failures"].values())), "broken.cpp", ":1:")
    found = run_here("search", tmp_path / "index", SOURCES / "dot.c", "--json")
    assert found.code == 0
    for row, expected in zip(found.rows, index.search(SOURCES / "dot.c"), strict=True):
        matches = [(match["function"], match["similarity"]) for match in row["matches"]]
        assert matches == [(match.function, pytest.approx(match.similarity)) for match in expected]
    assert run_here("search", tmp_path / "none", SOURCES / "dot.c").code == 1
    assert run_here("search", tmp_path / "index").code == 2


def test_the_machine_and_its_data_are_told(tmp_path, monkeypatch):
    info = run_here("info", "--json")
    (row,) = info.rows
    assert (info.code, row["version"]) == (0, ncc.__version__)
    monkeypatch.setenv("NCC_DATA", str(tmp_path))
    listed = run_here("data", "list")
    assert listed.code == 0
    names = [line.split()[0] for line in listed.out.splitlines()]
    assert {"poj104", "devmap", "coarsening"} <= set(names)
    assert run_here("data", "verify", "poj104").code == 1
    for words in (["verify", "unheard-of"], ["fetch", "unheard-of"]):
        finished = run_here("data", *words)
        assert finished.code in (1, 2)
        check_message(finished.err, "unheard-of")


def test_devices_are_what_the_api_lists():
    pytest.importorskip("pyopencl", reason="needs the extra measure")
    listed = run_here("devices", "--json")
    if listed.code == 1:
        pytest.skip(listed.err)
    assert listed.rows == [json.loads(json.dumps(device.to_dict())) for device in ncc.list_devices()]
