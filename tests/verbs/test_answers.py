"""What one verb alone answers: graphs, predictions about kernels, classes, and functions that are alike."""

import os
import pty
import re

import pytest

import ncc
from tests.contract.cases import CODE, IR, KERNELS, SOURCES
from tests.fixtures.pages import data_of
from tests.rooms import format_bytes
from tests.support.refuses import check_message
from tests.support.verbs import run_here, start
from tests.tasks.search.conftest import write_code

TREE, SAXPY = IR / "tree.clang22.ll", IR / "saxpy.clang14.ll"


# ---- graphs


def test_a_picture_is_of_one_function_and_a_page_of_a_source_knows_its_lines(tmp_path):
    path = tmp_path / "graph.html"
    finished = run_here("graph", TREE, "-o", tmp_path / "graph.svg")
    assert finished.code == 1
    check_message(finished.err, "total", "collatz")
    assert run_here("graph", SOURCES / "dot.c", "-o", path).code == 0
    data = data_of(path.read_text(encoding="utf-8"))
    assert [*data] == ["table", "functions/0", "functions/1"]
    assert all(any(data[f"functions/{number}"]["graph"]["line"]) for number in range(2))


@pytest.mark.parametrize("ending", [".graphml", ".json", ".html"])
def test_a_graph_of_a_file_with_a_name_that_is_no_utf_8(code, tmp_path, ending):
    path = (code / "dot.c").rename(code / "caf\udce9.c")
    assert run_here("graph", path, "-o", tmp_path / f"graph{ending}").code == 0


# ---- the device for a kernel


def test_a_plot_says_at_which_sizes_the_answer_is_decided(tmp_path):
    words = ["predict-device", KERNELS, "--wgsize", "64", "--transfer", "1MB", "--plot", tmp_path / "curve.svg"]
    curves = [answer.curve() for answer in ncc.predict_device(KERNELS, wgsize=64)]
    sizes = [line for line in run_here(*words).out.splitlines() if line.startswith("  sizes ")]
    for line, curve in zip(sizes, curves, strict=True):
        assert all(f"{device} from {format_bytes(low)}" in line for device, low, _ in curve.decided_ranges)
        assert ("at every size" in line) == (not curve.decided_ranges)
    row = run_here(*words, "--json").row
    assert [kernel["crossovers"] for kernel in row["kernels"]] == [list(curve.crossovers) for curve in curves]
    assert row["crossovers"] == row["kernels"][0]["crossovers"]
    assert "explanation" not in row


def test_statements_are_reasons_where_lines_are_not_known():
    lines = run_here("predict-device", SAXPY, "--explain").out.splitlines()
    reasons = [line for line in lines if "x towards " in line]
    assert reasons and all("statement  " in line for line in reasons)


def test_a_kernel_that_is_broken_is_not_drawn(tmp_path):
    (tmp_path / "a.cl").write_text("__kernel void f() { x = 1; }\n")
    finished = run_here("predict-device", tmp_path / "a.cl", "--plot", tmp_path / "a.svg", "--explain")
    assert (finished.code, finished.out, (tmp_path / "a.svg").exists()) == (1, "", False)
    check_message(finished.err, "a.cl:1:21")


# ---- kernels of CUDA, and coarsening


def test_a_kernel_that_does_not_compile_is_told_with_its_reason(tmp_path):
    path = tmp_path / "two.cu"
    path.write_text(
        "__global__ void bad(float *a) { a[threadIdx.x] = lost(a[0]); }\n"
        "__global__ void good(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] *= 2; }\n"
    )
    launch = ["predict-gpu", path, "--grid", "4", "--block", "64"]
    refused = run_here(*launch, "--kernel", "bad")
    assert (refused.code, refused.out) == (1, "")
    check_message(refused.err, "two.cu", "bad", "'lost'")
    row = run_here(*launch, "--json").row
    assert [kernel["demangled"] for kernel in row["kernels"]] == ["good(float*, int)"]
    assert row["skipped_functions"] == {"bad": "use of undeclared identifier 'lost'"}


def test_what_coarsening_was_not_measured_on_is_said(tmp_path):
    (tmp_path / "odd.cl").write_text(
        "__kernel void empty(void) {}\n"
        "__kernel void image(read_only image2d_t a, __global float *b) {\n"
        "  b[get_global_id(0)] = read_imagef(a, (int2)(get_global_id(0), 0)).x; }\n"
        "__kernel void plain(__global float *a) { a[get_global_id(0)] *= 2; }\n"
    )
    (tmp_path / "one.cu").write_text("__global__ void one(float *a) { a[threadIdx.x] *= 2; }\n")
    answers = run_here("predict-coarsening", tmp_path / "odd.cl", tmp_path / "one.cu").out
    parts = re.split(r"^(?=\S)", answers, flags=re.MULTILINE)[1:]
    for part, reason in zip(parts, ("accesses no memory", "images", None, "CUDA"), strict=True):
        assert ("unlike the kernels that were measured" in part) == (reason is not None)
        assert (reason or "plain") in part


def test_no_coarsening_has_no_interval(tmp_path):
    (tmp_path / "one.cl").write_text(
        "__kernel void one(__global float *a) { int i = get_global_id(0);\n"
        "  if (i & 1) for (int k = 0; k < i; k++) a[i] = a[i] * a[k] + a[i + k]; }\n"
    )
    first, *_ = run_here("predict-coarsening", tmp_path / "one.cl").out.splitlines()
    assert first.split()[:2] == ["don't", "merge"]
    assert "80%" not in first


@pytest.mark.parametrize(("environment", "is_colored"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_verdict_has_a_color_on_a_terminal_unless_that_is_refused(environment, is_colored):
    reader, terminal = pty.openpty()
    words = ["predict-coarsening", KERNELS]
    with start(*words, stdout=terminal, env={**os.environ, **environment}) as process:
        process.wait(60)
    os.close(terminal)
    shown = os.read(reader, 1 << 16).decode().replace("\r\n", "\n")
    os.close(reader)
    assert ("\x1b[33mundecided " in shown) == is_colored
    assert re.sub(r"\x1b\[\d+m", "", shown) == run_here(*words).out


@pytest.mark.parametrize("is_terminal", [False, True])
def test_answers_for_many_inputs_reach_standard_output_beside_a_terminal(tmp_path, is_terminal):
    for name in "abcdefghi":
        (tmp_path / f"{name}.c").write_text("lost" if name == "b" else "int f(int a) { return a + 1; }\n")
    (messages, terminal), (reader, answers) = pty.openpty(), pty.openpty() if is_terminal else os.pipe()
    with start("graph", tmp_path, stdout=answers, stderr=terminal) as process:
        assert process.wait(60) == 1
    shown = os.read(reader, 1 << 16).decode().replace("\r\n", "\n")
    for stream in (messages, terminal, reader, answers):
        os.close(stream)
    assert re.sub(r"\x1b\[\d*m", "", shown) == run_here("graph", tmp_path).out


def test_the_lstm_that_ships_belongs_to_the_platform():
    times = set()
    for platform in ("amd", "nvidia"):
        for head in ([], ["--head", "lstm"]):
            row = run_here("predict-device", KERNELS, "--transfer", "16MB", "--platform", platform, *head, "--json").row
            assert row["platform"] == platform
            times.add(str(row["times_ms"]))
    assert len(times) == 4


# ---- classes


def test_levels_are_asked_once_each_in_the_order_of_the_head():
    sizes = {}
    for levels in ("1", "0", "1, 0, 1"):
        row = run_here("classify", CODE, "--levels", levels, "--json").row
        sizes[levels] = row["num_statements"]
        assert set(row["levels"]) == {f"-O{level}" for level in levels if level.isdigit()}
    assert sizes["1, 0, 1"] == sizes["1"] + sizes["0"]
    assert sizes["1"] < sizes["0"]


def test_groups_of_functions_that_are_alike_are_printed_and_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_code(tmp_path / "code")
    run_here("index", "code", "-o", "index")
    words = ["search", "index", "--duplicates", "--threshold", "0.9"]
    out = run_here(*words, "-o", "similar.html", "--source").out
    assert out.startswith("1 group           similarity 0.9 or more     ")
    assert "\n  group 1   2 functions, " in out and "first_sum(const int" in out
    assert "int second_sum(const int *a, int n) {" in (tmp_path / "similar.html").read_text()
    row = run_here(*words, "--json").row
    assert {one["function"] for one in row["functions"]} == {"first_sum", "second_sum"}
    assert (row["pooling"], row["threshold"]) == ("encoder", 0.9)
