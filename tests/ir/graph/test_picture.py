"""What the page of a graph holds; `test_page.py` opens the page in a browser, and goldens keep pictures as SVG."""

from itertools import combinations
from pathlib import Path

import pytest

from ncc.errors import InputError
from tests.fixtures.pages import HOSTILE
from tests.rooms import MAX_ROW_CHARS, XFG, Drawing, Layout, build_xfg, escape_control, read_module
from tests.support.refuses import refuses

IR = Path(__file__).parents[2] / "data" / "ir"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=["hostile", "tree.clang19.ll", "shapes.clang16.ll", "legacy.ll"])
def graph(request: pytest.FixtureRequest) -> XFG:
    return build_xfg(read_module(HOSTILE if request.param == "hostile" else IR / request.param))


def drawings(graph: XFG) -> list[Drawing]:
    return list(map(Layout(graph).draw, range(graph.module.num_functions)))


def shows(graph: XFG, drawing: Drawing, function: int, row: int, node: int) -> bool:
    """Does the row show the node?"""
    kind, label, statement = graph.kind_of(node), drawing.labels[row], int(drawing.statement[row])
    if graph.function_of(node) != function:
        return label == escape_control(graph.node_label(node))
    begin = int(graph.module.function_start[function])
    if kind == "effect":
        return statement == graph.effect_statement[node - graph.effect]
    if kind in ("root", "return"):
        return statement == begin if kind == "root" else label == "return"
    name = escape_control(graph.module.node_name(node))
    if kind == "result":
        return statement == graph.module.node_definition[node]
    return label == (f"{name}:" if kind == "block" else f"%{name}")


def test_every_edge_leads_between_the_rows_of_its_nodes(graph: XFG) -> None:
    edge = 0
    for function, drawing in enumerate(drawings(graph)):
        for at in range(len(drawing.kind)):
            assert drawing.statement[drawing.edge_row[at]] == graph.statement[edge]
            assert drawing.kind[at] == graph.kind[edge]
            assert shows(graph, drawing, function, drawing.source[at], graph.source[edge])
            assert shows(graph, drawing, function, drawing.target[at], graph.target[edge])
            edge += 1
    assert edge == graph.num_edges


def test_every_statement_has_a_row_in_the_box_of_its_block(graph: XFG) -> None:
    module = graph.module
    for function, drawing in enumerate(drawings(graph)):
        begin, end = module.function_start[function : function + 2].tolist()
        assert [row for row in drawing.statement.tolist() if row >= 0] == list(range(begin, end))
        blocks = range(*module.function_block[function : function + 2].tolist())
        for block, box in zip(blocks, drawing.boxes[1:], strict=False):
            rows = drawing.statement[box.first : box.first + box.num_rows].tolist()
            assert {int(module.basic_block[row]) for row in rows if row >= 0} == {block}
            assert (
                drawing.labels[box.first]
                == f"{escape_control(module.node_name(int(module.basic_block_label[block])))}:"
            )


def test_boxes_stand_clear_of_each_other(graph: XFG) -> None:
    for drawing in drawings(graph):
        assert sum(box.num_rows for box in drawing.boxes) == len(drawing.labels)
        for one, other in combinations(drawing.boxes, 2):
            beside = one.x + one.width < other.x or other.x + other.width < one.x
            above = one.y + one.num_rows < other.y or other.y + other.num_rows < one.y
            assert beside or above


def test_the_cases_of_a_switch_are_broken_into_lines() -> None:
    cases = "".join(f"i32 {i}, label %case{i} " for i in range(200))
    blocks = "".join(f"case{i}:\n  ret i32 {i}\n" for i in range(200))
    ir = f"define i32 @f(i32 %x) {{\n  switch i32 %x, label %case0 [ {cases}]\n{blocks}}}\n"
    drawing = Layout(build_xfg(read_module(ir.encode()))).draw(0)
    assert max(box.x + box.width for box in drawing.boxes) - min(box.x for box in drawing.boxes) < 1000
    assert max(box.width for box in drawing.boxes) <= MAX_ROW_CHARS + 2
    assert max(map(len, drawing.labels)) <= 600


def test_rows_show_the_code_without_metadata() -> None:
    ir = b'define i32 @"a\\0Ab"(ptr %p) {\n  %x = load i32, ptr %p, align 4, !tbaa !1, !dbg !7\n  ret i32 %x\n}\n'
    labels = Layout(build_xfg(read_module(ir))).draw(0).labels
    assert "%x = load i32, ptr %p, align 4" in labels
    assert labels[:3] == ('define i32 @"a\\0Ab"(ptr %p)', "0:", "%p")


def test_svg_of_one_function_or_of_several() -> None:
    assert build_xfg(read_module(b"define void @f() {\n  ret void\n}\n")).to_svg().startswith("<svg ")
    with refuses(InputError, "a picture shows one function", "name one of its 2", "</script>"):
        build_xfg(read_module(HOSTILE)).to_svg()
    with refuses(InputError, "a picture shows one function", "has none"):
        build_xfg(read_module(b"declare void @f()\n")).to_svg()
