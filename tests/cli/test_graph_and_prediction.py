"""``ncc graph``, ``ncc predict-device`` and ``ncc info``."""

import json
from xml.etree import ElementTree

import pytest

import ncc as package


def _rows(out):
    return [json.loads(line) for line in out.splitlines()]


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
        assert text.count("<tr") == graph.num_edges + 1


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
        ([code / "dot.c", "-o", tmp_path / "a.png"], "extension '.png' is none of .dot .graphml .json .html"),
        ([code, "-o", tmp_path / "a.dot"], "-o takes one input; for several, use --json"),
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


@pytest.mark.parametrize("command", [["graph"], ["predict-device"]])
def test_a_bad_input_is_one_message_and_exit_code_1(ncc, bad, command):
    path, message = bad
    finished = ncc(*command, path)
    if command == ["graph"] and path.name in NO_FUNCTIONS:
        assert (finished.code, finished.err) == (0, "")
        return
    assert (finished.code, finished.out) == (1, "")
    assert finished.err.startswith("ncc: ")
    assert message in finished.err


def test_bad_inputs_do_not_stop_the_graphs_of_others(ncc, bad, code):
    path, _ = bad
    finished = ncc("graph", path, code / "dot.c", "--json")
    is_readable = path.name in NO_FUNCTIONS
    assert finished.code == (0 if is_readable else 1)
    assert [row["ok"] for row in _rows(finished.out)] == [is_readable, True]


# ---- prediction, with the heads that ship


@pytest.mark.parametrize("platform", ["amd", "nvidia"])
def test_a_prediction_has_the_named_fields(ncc, kernels, platform):
    arguments = ["predict-device", kernels, "--platform", platform, "--transfer", "1e6", "--wgsize", "64", "--json"]
    finished = ncc(*arguments)
    assert (finished.code, finished.err) == (0, "")
    (row,) = _rows(finished.out)
    expected = package.predict_device(kernels, platform=platform, transfer_bytes=1e6, wgsize=64)
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


def test_people_get_a_line_a_kernel(ncc, kernels):
    lines = ncc("predict-device", kernels).out.splitlines()
    assert len(lines) == 2
    for line, name in zip(lines, ("scale", "fill"), strict=True):
        assert f": {name}: " in line
        assert "80 % interval" in line
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
        (["--platform", "intel"], "--platform is 'intel'; expected one of amd, nvidia"),
        (["--transfer", "-1"], "--transfer is -1.0; expected a number, 0 or more"),
        (["--wgsize", "nan"], "--wgsize is nan; expected a number, 0 or more"),
        (["--wgsize", "inf"], "--wgsize is inf; expected a number, 0 or more"),
        (["--wgsize", "many"], "--wgsize"),
    ],
)
def test_wrong_usage_of_prediction(ncc, kernels, arguments, message):
    finished = ncc("predict-device", kernels, *arguments)
    assert (finished.code, finished.out) == (2, "")
    assert message in finished.err


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
