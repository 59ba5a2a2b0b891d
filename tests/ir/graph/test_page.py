"""The page of a graph in a browser: Debian's Chromium, driven by Selenium."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.pages import HOSTILE
from tests.rooms import XFG, Layout, build_xfg, edge_curves, read_module, to_html
from tests.support.browser import chromium, part, requested, until

pytestmark = pytest.mark.full

IR = Path(__file__).parents[2] / "data" / "ir"
Open = Callable[..., Any]


@pytest.fixture(scope="module", name="chromium")
def _chromium() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the page of a graph; afterwards it has said nothing to the console and asked the network for nothing."""
    path = tmp_path / "page.html"

    def opens(graph: XFG, function: str | None = None) -> Any:
        path.write_text(to_html(graph, function), encoding="utf-8")
        chromium.get(path.as_uri())
        until(chromium, "current !== null")
        return chromium

    yield opens
    assert chromium.get_log("browser") == []
    assert requested(chromium) == {path.as_uri()}


def picture(chromium: Any) -> str:
    """What the canvas shows, once it is drawn."""
    return chromium.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => { graph.draw(); done(graph.canvas.toDataURL()); })"
    )


def tree() -> XFG:
    return build_xfg(read_module(IR / "tree-g.clang22.ll"))


def press(chromium: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(chromium).send_keys(*keys).perform()


def rows(chromium: Any, name: str) -> list[Any]:
    return part(chromium, name).find_elements("css selector", ".row")


def shown(chromium: Any, number: int) -> None:
    """Wait until a function is shown."""
    until(chromium, f"current?.number === {number}")


def test_a_function_is_searched_and_selected(opened: Open) -> None:
    chromium = opened(tree(), "depth")
    assert part(chromium, "listed").text == "5 of 5 functions"
    assert part(chromium, "name").text == "depth"
    before = picture(chromium)
    part(chromium, "search").send_keys("COLL")
    until(chromium, "listed.length === 1")
    assert part(chromium, "listed").text == "1 of 5 functions"
    until(chromium, "document.querySelectorAll('#functions .row').length === 1")
    (row,) = rows(chromium, "functions")
    assert row.text.startswith("collatz")
    row.click()
    until(chromium, "current?.name === 'collatz'")
    assert "Graph of collatz: " in part(chromium, "graph").get_attribute("aria-label")
    assert picture(chromium) != before
    chromium.back()
    until(chromium, "current?.name === 'depth'")


def test_a_statement_is_found_and_chosen_everywhere(opened: Open) -> None:
    graph = tree()
    module = graph.module
    chromium = opened(graph, "total")
    (number,) = [i for i, name in enumerate(module.function_names) if name == "total"]
    hits = [i for i in module.body(number) if "fadd" in module.statement_source(i)]
    part(chromium, "statements").send_keys("FADD\n")
    until(chromium, "current.row >= 0")
    assert part(chromium, "found").text == f"{len(hits)} found"
    assert "fadd" in part(chromium, "details").text
    until(chromium, "document.querySelector('#code [aria-selected=true]')")
    chosen = part(chromium, "code").find_element("css selector", "[aria-selected=true]")
    assert "fadd" in chosen.text
    assert part(chromium, "code").get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    line = int(module.source_line[hits[0]])
    part(chromium, "line").click()
    same = sum(int(module.source_line[i]) == line for i in [int(module.function_start[number]), *module.body(number)])
    assert part(chromium, "found").text == f"{same} found"
    address = chromium.current_url
    assert f"function={number}&row=" in address


def test_the_page_draws_the_edges_of_the_picture_and_its_title_is_text(opened: Open) -> None:
    for graph in (build_xfg(read_module(HOSTILE, name="</title><img src=x onerror=alert(1)>")), tree()):
        chromium = opened(graph)
        assert chromium.title == f"XFG of {graph.module.name}"
        assert not chromium.find_elements("css selector", "img")
        curves = chromium.execute_script("return current.shape.edges.map(edge => edge.curve)")
        number = chromium.execute_script("return current.number")
        assert curves == [list(curve) for curve in edge_curves(Layout(graph).draw(number))]


def test_keys_walk_through_the_graph(opened: Open) -> None:
    chromium = opened(build_xfg(read_module(HOSTILE)))
    chromium.execute_script("graph.canvas.focus()")
    chosen = "return current.row"
    down, up, right, left, enter = "\ue015", "\ue013", "\ue014", "\ue012", "\ue007"
    press(chromium, down, down)
    assert chromium.execute_script(chosen) == 1
    press(chromium, up, right)
    assert chromium.execute_script(chosen) == 1  # from the root along its edge to the entry
    press(chromium, left)
    assert chromium.execute_script(chosen) == 0
    row = chromium.execute_script("return current.shape.firstLink + current.shape.links.findIndex(link => link === 1)")
    press(chromium, *([down] * row), enter)
    shown(chromium, 1)
    before = chromium.execute_script("return graph.scale")
    press(chromium, "+")
    assert chromium.execute_script("return graph.scale") > before
    press(chromium, "/")
    reached = []
    for _ in range(12):
        reached.append(
            chromium.execute_script("return document.activeElement.id || document.activeElement.textContent")
        )
        press(chromium, "\ue004")
    columns = ["csv", "functions", "name", "statements"]
    assert reached == ["search", *columns, "statements", "previous", "next", "path", "data", "control", "closer"]


def test_a_function_of_20000_statements(opened: Open) -> None:
    lines = []
    for i in range(0, 20_000, 10):
        lines += [f"b{i}:", *(f"  %v{i + k} = add i32 %x, {i + k}" for k in range(9)), f"  br label %b{i + 10}"]
    ir = "\n".join(["define i32 @f(i32 %x) {", "  br label %b0", *lines, "b20000:", "  ret i32 %v5", "}", ""])
    chromium = opened(build_xfg(read_module(ir.encode())))
    part(chromium, "statements").send_keys("19876\n")
    until(chromium, "current.row >= 0")
    assert part(chromium, "found").text == "1 found"
    assert "%v19876 = add i32 %x, 19876" in part(chromium, "details").text
    until(chromium, "document.querySelector('#code [aria-selected=true]')")
    assert len(rows(chromium, "code")) < 200
    near = picture(chromium)
    part(chromium, "fit").click()
    assert picture(chromium) != near
    assert chromium.execute_script("return graph.scale") < 0.1
    part(chromium, "next").click()
    assert chromium.execute_script("return graph.scale") > 0.5  # what is found can be read


def test_a_notebook_shows_the_same_page(chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{build_xfg(read_module(HOSTILE))._repr_html_()}")
    chromium.get(path.as_uri())
    chromium.switch_to.frame(chromium.find_element("tag name", "iframe"))
    until(chromium, "current !== null")
    assert "<img src=x onerror=alert(1)>" in part(chromium, "name").text
    chromium.execute_script("go({ function: 1, row: 1 })")
    shown(chromium, 1)
    until(chromium, "current.row === 1")
    chromium.switch_to.default_content()
    assert chromium.get_log("browser") == []
    requested(chromium)
