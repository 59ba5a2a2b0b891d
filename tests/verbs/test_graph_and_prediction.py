"""``ncc graph``, ``ncc predict-device`` and ``ncc info``."""

import json
import math
from itertools import accumulate
from xml.etree import ElementTree

import pytest

import ncc as package
from tests.fixtures.pages import data_of
from tests.rooms import format_bytes


def _rows(out):
    return [json.loads(line) for line in out.splitlines()]


_LAUNCH = ["--grid", "4", "--block", "64"]


@pytest.mark.parametrize(
    "command",
    [["predict-device", "--explain"], ["predict-coarsening"], ["predict-gpu", *_LAUNCH], ["profile", *_LAUNCH]],
    ids=lambda command: command[0],
)
def test_workers_answer_as_one_process_does(ncc, code, tmp_path, command):
    kernels, broken = code / "two_kernels.cl", tmp_path / "broken.cl"
    broken.write_text("kernel void f(global float *x) { *x = nothing; }\n")
    alone, crew = (ncc(*command, kernels, broken, kernels, "--json", *more) for more in ([], ["--jobs", "2"]))
    assert crew == alone
    assert [row["ok"] for row in _rows(crew.out)] == [True, False, True]


def test_a_graph_is_summed_up(ncc, code):
    finished = ncc("graph", code / "tree.clang22.ll", code / "dot.c")
    assert (finished.code, finished.err) == (0, "")
    graph = package.build_graph(code / "tree.clang22.ll")
    assert f"{graph.module.num_statements} statements, {graph.num_edges} edges (" in finished.out.splitlines()[0]


def test_a_graph_as_json(ncc, code):
    finished = ncc("graph", code / "tree.clang22.ll", code / "two_kernels.cl", "--json")
    assert finished.code == 0
    for row in _rows(finished.out):
        graph = package.build_graph(row["input"])
        assert (row["ok"], row["error"]) == (True, None)
        assert row["num_statements"] == graph.module.num_statements == len(row["graph"]["statements"])
        assert row["num_edges"] == graph.num_edges == len(row["graph"]["edges"]) == sum(row["edges_by_kind"].values())
        assert row["unknown_rate"] == package.embed(row["input"]).unknown_rate


@pytest.mark.parametrize("extension", [".dot", ".graphml", ".json", ".html"])
def test_a_graph_is_written(ncc, code, tmp_path, extension):
    path = tmp_path / f"graph{extension}"
    assert ncc("graph", code / "tree.clang22.ll", "-o", path).code == 0
    graph, text = package.build_graph(code / "tree.clang22.ll"), path.read_text(encoding="utf-8")
    if extension == ".dot":
        assert text.count(" -> ") == graph.num_edges
    elif extension == ".graphml":
        edges = ElementTree.fromstring(text).iter("{http://graphml.graphdrawing.org/xmlns}edge")
        assert len(list(edges)) == graph.num_edges
    elif extension == ".json":
        assert len(json.loads(text)["edges"]) == graph.num_edges
    else:
        assert sum(len(function[8]) for function in data_of(text)["functions"]) == graph.num_edges


def test_a_function_as_a_picture(ncc, code, tmp_path):
    path = tmp_path / "graph.svg"
    assert ncc("graph", code / "tree.clang22.ll", "-o", path, "--function", "collatz").code == 0
    assert "<title>XFG of collatz</title>" in path.read_text(encoding="utf-8")
    assert ncc("graph", code / "tree.clang22.ll", "-o", tmp_path / "graph.html", "--function", "collatz").code == 0
    finished = ncc("graph", code / "tree.clang22.ll", "-o", path, "--function", "colatz")
    assert finished.code == 2
    assert "there is no function 'colatz'; nearest are collatz" in finished.err
    finished = ncc("graph", code / "tree.clang22.ll", "-o", path)
    assert finished.code == 1
    assert "a picture shows one function; name one of its 5: total, " in finished.err


def test_a_page_of_a_source_knows_its_lines(ncc, code, tmp_path):
    path = tmp_path / "graph.html"
    assert ncc("graph", code / "dot.c", "-o", path).code == 0
    functions = data_of(path.read_text(encoding="utf-8"))["functions"]
    assert [set(accumulate(function[4])) > {0} for function in functions] == [True, True]


@pytest.mark.parametrize("extension", [".dot", ".graphml", ".json", ".html"])
def test_a_graph_of_a_file_with_a_name_that_is_no_utf_8(ncc, code, tmp_path, extension):
    path = (code / "dot.c").rename(code / "caf\udce9.c")
    finished = ncc("graph", path, "-o", tmp_path / f"graph{extension}")
    assert finished.code == 0


def test_a_graph_without_functions_is_empty(ncc, tmp_path):
    (tmp_path / "declared.ll").write_text("declare void @f()\n")
    (row,) = _rows(ncc("graph", tmp_path / "declared.ll", "--json").out)
    assert (row["num_statements"], row["num_edges"], row["unknown_rate"]) == (0, 0, 0.0)


def test_wrong_usage_of_graph(ncc, code, tmp_path):
    for arguments, message in (
        ([code / "dot.c", "-o", tmp_path / "a.png"], "extension '.png' is not one of .dot .graphml .json .html .svg"),
        ([code, "-o", tmp_path / "a.dot"], "-o takes one input; for several, use --json"),
        (
            [code / "dot.c", "-o", tmp_path / "a.dot", "--function", "dot"],
            "--function goes with -o FILE.html or FILE.svg",
        ),
        ([code / "dot.c", code / "dot.c", "-o", tmp_path / "a.dot"], "-o takes one input"),
    ):
        finished = ncc("graph", *arguments)
        assert finished.code == 2
        assert message in finished.err
        assert not (tmp_path / "a.dot").exists()
    finished = ncc("graph", code / "dot.c", "-o", tmp_path / "nowhere" / "a.dot")
    assert finished.code == 1
    assert "there is no folder" in finished.err


NO_FUNCTIONS = ("declared.ll", "variable.c")  # their graph is empty, which is an answer


# ---- prediction, with the heads that ship


@pytest.mark.parametrize("platform", ["amd", "nvidia"])
def test_a_prediction_has_the_named_fields(ncc, kernels, platform):
    arguments = ["predict-device", kernels, "--platform", platform, "--transfer", "1e6", "--wgsize", "64", "--json"]
    finished = ncc(*arguments)
    assert (finished.code, finished.err) == (0, "")
    (row,) = _rows(finished.out)
    expected = package.predict_device(kernels, platform=platform, transfer=1e6, wgsize=64)
    assert (row["input"], row["ok"], row["error"], row["platform"]) == (str(kernels), True, None, platform)
    assert [kernel["kernel"] for kernel in row["kernels"]] == ["scale", "fill"]
    for found, answer in zip(row["kernels"], expected, strict=True):
        assert found == json.loads(json.dumps(answer.to_dict()))
    names = {"device", "confidence", "speedup_gpu_over_cpu", "interval", "num_statements", "unknown_rate"}
    assert names <= set(row)
    assert {name: row[name] for name in names} == {name: row["kernels"][0][name] for name in names}


def test_a_prediction_without_sizes_covers_their_range(ncc, kernels):
    (row,) = _rows(ncc("predict-device", kernels, "--json").out)
    assert (row["transfer_bytes"], row["wgsize"], row["platform"]) == (None, None, "nvidia")
    assert row["interval"][0] < row["speedup_gpu_over_cpu"] < row["interval"][1]


@pytest.mark.parametrize(("written", "size"), [("64KiB", 65536), ("1GB", 1e9), ("16 MB", 16e6), ("1e6", 1e6)])
def test_sizes_may_have_units(ncc, kernels, written, size):
    (row,) = _rows(ncc("predict-device", kernels, "--transfer", written, "--json").out)
    assert row["transfer_bytes"] == size
    assert row["verdict"] in ("CPU", "GPU", "undecided")
    assert sum(row["probabilities"].values()) == pytest.approx(1)


def test_people_get_a_line_a_kernel(ncc, kernels):
    for sizes, word in (((), "leaning"), (("--transfer", "1MB"), "80 % interval")):
        lines = ncc("predict-device", kernels, *sizes).out.splitlines()
        assert len(lines) == 2
        for line, name in zip(lines, ("scale", "fill"), strict=True):
            assert f": {name}: " in line
            assert word in line
            assert "unknown" in line


def test_a_file_without_a_kernel_is_said_and_the_others_are_answered(ncc, code):
    finished = ncc(
        "predict-device", code / "dot.c", code / "two_kernels.cl", code / "deep" / "no_includes.cu", "--json"
    )
    assert finished.code == 1
    assert "dot.c: no kernel among its 2 function(s)" in finished.err
    rows = _rows(finished.out)
    assert [row["ok"] for row in rows] == [False, True, True]
    assert rows[0]["device"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--platform", "intel"], "'intel' is not one of 'amd', 'nvidia'"),
        (["--transfer", "-1"], "transfer is -1 bytes; expected 0 to 1e+15"),
        (["--transfer", "1e30"], "transfer is 1e+30 bytes; expected 0 to 1e+15"),
        (["--transfer", "3 miles"], "'3 miles' is not a size; expected bytes, such as 65536, 64KiB, 16MB or 1GB"),
        (["--wgsize", "nan"], "wgsize is nan work-items; expected a whole number from 1 to 65536"),
        (["--wgsize", "0"], "wgsize is 0 work-items; expected a whole number from 1 to 65536"),
        (["--wgsize", "1.5"], "wgsize is 1.5 work-items; expected a whole number from 1 to 65536"),
        (["--wgsize", "many"], "--wgsize"),
    ],
)
def test_wrong_usage_of_prediction(ncc, kernels, arguments, message):
    finished = ncc("predict-device", kernels, *arguments)
    assert (finished.code, finished.out) == (2, "")
    assert message in finished.err


# ---- what the answer depends on


@pytest.mark.parametrize("extension", [".png", ".svg", ".pdf"])
def test_a_plot_is_drawn_and_says_where_the_answer_flips(ncc, kernels, tmp_path, extension):
    path = tmp_path / f"curve{extension}"
    finished = ncc("predict-device", kernels, "--wgsize", "64", "--plot", path)
    assert (finished.code, finished.err) == (0, "")
    assert path.stat().st_size > 1000
    lines = finished.out.splitlines()
    curves = package.predict_device_curve(kernels, wgsize=64)
    assert len(lines) == len(curves) == 2
    for line, curve in zip(lines, curves, strict=True):
        *_, flips = line.partition("; flips at ")
        expected = [format_bytes(size) for size in curve.crossovers]
        assert flips == (", ".join(expected) if expected else "no size of data from 1 KiB to 4 GiB")


def test_a_plot_leaves_flips_in_the_json(ncc, kernels, tmp_path):
    arguments = ["--platform", "amd", "--plot", tmp_path / "a.png", "--json"]
    (row,) = _rows(ncc("predict-device", kernels, *arguments).out)
    curves = package.predict_device_curve(kernels, platform="amd")
    assert [kernel["crossovers"] for kernel in row["kernels"]] == [list(curve.crossovers) for curve in curves]
    assert row["crossovers"] == row["kernels"][0]["crossovers"]
    assert "explanation" not in row


def test_reasons_are_given_line_by_line(ncc, kernels):
    arguments = ["--transfer", "1e6", "--wgsize", "64", "--explain"]
    finished = ncc("predict-device", kernels, *arguments)
    assert (finished.code, finished.err) == (0, "")
    reasons = package.explain_device(kernels, transfer=1e6, wgsize=64)
    plain = ncc("predict-device", kernels, *arguments[:-1]).out.splitlines()
    lines = finished.out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == plain
    indented = [line.split() for line in lines if line.startswith("    ")]
    shares = [share for reason in reasons for share in reason.lines]
    assert len(indented) == len(shares)
    for words, share in zip(indented, shares, strict=True):
        device = "GPU:" if share.log_ratio_change > 0 else "CPU:"
        assert words[:6] == [
            f"{math.exp(abs(share.log_ratio_change)):.2f}x",
            "for",
            "the",
            device,
            "line",
            f"{share.line}:",
        ]
    rest = [words for words in indented if words[-1] == "more"]
    assert len(rest) == sum(len(share.statements) > 1 for share in shares)


def test_reasons_in_the_json_are_all_there(ncc, sources):
    (row,) = _rows(ncc("predict-device", sources / "vector_add.cu", "--explain", "--json").out)
    (reason,) = package.explain_device(sources / "vector_add.cu")
    assert row["explanation"] == row["kernels"][0]["explanation"] == json.loads(json.dumps(reason.to_dict()["lines"]))
    assert {"line", "statements", "log_ratio_change"} == set(row["explanation"][0])


def test_statements_are_reasons_where_lines_are_not_known(ncc, ir):
    lines = ncc("predict-device", ir / "saxpy.clang14.ll", "--explain").out.splitlines()
    reasons = [line for line in lines if line.startswith("    ")]
    assert reasons
    assert all(": statement: " in line for line in reasons)
    per_kernel = [len(reason.lines) for reason in package.explain_device(ir / "saxpy.clang14.ll")]
    assert max(per_kernel) > 8
    assert len(reasons) == sum(min(number, 8) for number in per_kernel)


def test_standard_input_is_asked_about_all(ncc, kernels, ir, tmp_path):
    both = ["--explain", "--plot", tmp_path / "a.svg"]
    for path, options in ((ir / "saxpy.clang14.ll", []), (kernels, ["--language", "opencl"])):
        finished = ncc("predict-device", "-", *options, *both, stdin=path.read_bytes())
        assert (finished.code, finished.err) == (0, "")
        expected = ncc("predict-device", path, *both).out
        assert finished.out == expected.replace(f"{path}: ", "-: ")
    empty = ncc("predict-device", "-", *both, stdin=b" \n")
    assert (empty.code, empty.out, empty.err) == (1, "", "ncc: standard input is empty\n")


def test_wrong_usage_of_plot(ncc, kernels, code, tmp_path):
    path = tmp_path / "a.png"
    for arguments, message, exit_code in (
        ([kernels, kernels, "--plot", path], "--plot takes one input", 2),
        ([code, "--plot", path], "--plot takes one input", 2),
        ([kernels, "--plot", tmp_path / "a.gif"], "a.gif: extension '.gif' is not one of .png .svg .pdf", 2),
        ([kernels, "--plot", tmp_path / "nowhere" / "a.png"], f"there is no folder {tmp_path / 'nowhere'}", 1),
        ([kernels, "--plot", tmp_path], "extension '' is not one of", 2),
    ):
        finished = ncc("predict-device", *arguments)
        assert (finished.code, finished.out) == (exit_code, "")
        assert message in finished.err
    assert not path.exists()
    assert not (tmp_path / "nowhere").exists()


def test_a_kernel_that_is_broken_is_not_drawn(ncc, tmp_path):
    (tmp_path / "a.cl").write_text("__kernel void f() { x = 1; }\n")
    finished = ncc("predict-device", tmp_path / "a.cl", "--plot", tmp_path / "a.png", "--explain")
    assert (finished.code, finished.out) == (1, "")
    assert "a.cl:1:21: error" in finished.err
    assert not (tmp_path / "a.png").exists()


def test_info_as_json_and_as_text(ncc):
    finished = ncc("info", "--json")
    assert finished.code == 0
    facts = json.loads(finished.out)
    assert facts["version"] == package.__version__
    embedding = package.load_embedding()
    assert facts["embedding"]["id"] == embedding.fingerprint
    assert facts["embedding"]["dim"] == embedding.dim
    assert set(facts["device_heads"]) == {"amd", "nvidia"}
    assert {".ll", ".bc", ".c", ".cpp", ".cl", ".cu"} <= set(facts["reads"])
    text = ncc("info").out
    assert all(f"{name}: " in text for name in facts)


_ONE_FAILS = """__global__ void bad(float *a) { a[threadIdx.x] = lost(a[0]); }
__global__ void good(float *a, int n) { if (threadIdx.x < n) a[threadIdx.x] *= 2; }
"""


def test_a_kernel_that_does_not_compile_is_told_with_its_reason(ncc, tmp_path):
    (tmp_path / "two.cu").write_text(_ONE_FAILS)
    launch = ["predict-gpu", tmp_path / "two.cu", "--grid", "4", "--block", "64"]
    refused = ncc(*launch, "--kernel", "bad")
    assert (refused.code, refused.out) == (1, "")
    assert "two.cu: bad does not compile: use of undeclared identifier 'lost'" in refused.err
    (row,) = _rows(ncc(*launch, "--json").out)
    assert [kernel["demangled"] for kernel in row["kernels"]] == ["good(float*, int)"]
    assert row["skipped_functions"] == {"bad": "use of undeclared identifier 'lost'"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--grid", "0", "--block", "64"], "grid size x is 0"),
        (["--grid", "1", "--block", "2048"], "block size x is 2,048"),
        (["--grid", "1", "--block", "64", "--gpu", "B200"], "no card is called 'B200'"),
        (["--grid", "1", "--block", "64", "--arg", "zz=3"], "has no argument 'zz'"),
        (["--grid", "1", "--block", "64", "--kernel", "zz"], "no kernel is called 'zz'"),
        (["--grid", "1", "--block", "64", "-I", "nowhere"], "-I: nowhere: there is no such folder"),
    ],
)
def test_an_option_that_can_not_be_right_is_wrong_usage(ncc, tmp_path, arguments, message):
    (tmp_path / "two.cu").write_text(_ONE_FAILS)
    finished = ncc("predict-gpu", tmp_path / "two.cu", *arguments)
    assert (finished.code, finished.out) == (2, "")
    assert message in finished.err


def test_sizes_out_of_range_are_wrong_usage(ncc, kernels):
    assert ncc("predict-device", kernels, "--global-size", "0").code == 2


def test_what_coarsening_was_not_measured_on_is_said(ncc, tmp_path):
    (tmp_path / "odd.cl").write_text(
        "__kernel void empty(void) {}\n"
        "__kernel void image(read_only image2d_t a, __global float *b) {\n"
        "  b[get_global_id(0)] = read_imagef(a, (int2)(get_global_id(0), 0)).x; }\n"
        "__kernel void plain(__global float *a) { a[get_global_id(0)] *= 2; }\n"
    )
    (tmp_path / "one.cu").write_text("__global__ void one(float *a) { a[threadIdx.x] *= 2; }\n")
    lines = ncc("predict-coarsening", tmp_path / "odd.cl", tmp_path / "one.cu").out.splitlines()
    for line, reason in zip(lines, ("accesses no memory", "images", None, "CUDA"), strict=True):
        assert ("unlike the kernels that were measured" in line) == (reason is not None)
        assert (reason or "plain") in line


def test_no_coarsening_has_no_interval(ncc, tmp_path):
    (tmp_path / "one.cl").write_text(
        "__kernel void one(__global float *a) { int i = get_global_id(0);\n"
        "  if (i & 1) for (int k = 0; k < i; k++) a[i] = a[i] * a[k] + a[i + k]; }\n"
    )
    (line,) = ncc("predict-coarsening", tmp_path / "one.cl").out.splitlines()
    assert "factor 1, 1.00x; expected at 1: 1.00x" in line
