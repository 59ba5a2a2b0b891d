"""The page of a graph in a browser: Debian's Chromium, driven by Selenium."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.pages import HOSTILE, HOSTILE_NAME
from tests.rooms import XFG, Layout, build_xfg, edge_curves, read_module, to_html
from tests.support.browser import chromium, requested, until

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
        until(chromium, "!document.getElementById('listed').textContent.startsWith('Loading')")
        return chromium

    yield opens
    assert chromium.get_log("browser") == []
    assert requested(chromium) == {path.as_uri()}


def part(chromium: Any, name: str) -> Any:
    return chromium.find_element("id", name)


def picture(chromium: Any) -> str:
    """What the canvas shows, once it is drawn."""
    return chromium.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => { draw(); done(canvas.toDataURL()); })"
    )


def tree() -> XFG:
    return build_xfg(read_module(IR / "tree-g.clang22.ll"))


def press(chromium: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(chromium).send_keys(*keys).perform()


def test_a_function_is_searched_and_selected(opened: Open) -> None:
    chromium = opened(tree(), "depth")
    assert part(chromium, "listed").text == "5 of 5 functions"
    assert chromium.execute_script("return shape.name") == "depth"
    part(chromium, "filter").send_keys("COLL")
    assert part(chromium, "listed").text == "1 of 5 functions"
    before = picture(chromium)
    (option,) = part(chromium, "functions").find_elements("tag name", "option")
    assert option.text.startswith("collatz (")
    option.click()
    assert chromium.execute_script("return shape.name") == "collatz"
    assert "Graph of collatz: " in part(chromium, "canvas").get_attribute("aria-label")
    assert picture(chromium) != before


def test_a_statement_is_found_in_other_functions_too(opened: Open) -> None:
    graph = tree()
    chromium = opened(graph, "depth")
    sources = [graph.module.statement_source(i) for i in range(graph.module.num_statements)]
    hits = [(graph.module.statement_function[i], i) for i, text in enumerate(sources) if "fadd" in text]
    part(chromium, "search").send_keys("FADD\n")
    functions = len({function for function, _ in hits})
    until(chromium, "chosen >= 0")
    assert f"{len(hits)} in {functions} function" in part(chromium, "found").text
    assert chromium.execute_script("return shape.name") != "depth"
    assert "fadd" in part(chromium, "details").text
    first = part(chromium, "details").text
    part(chromium, "next").click()
    assert "fadd" in part(chromium, "details").text
    assert part(chromium, "details").text != first
    part(chromium, "previous").click()
    assert part(chromium, "details").text == first


def test_the_page_draws_the_edges_of_the_picture(opened: Open) -> None:
    for graph in (build_xfg(read_module(HOSTILE)), tree()):
        chromium = opened(graph)
        curves = chromium.execute_script("return shape.edges.map(edge => edge.curve)")
        assert curves == [list(curve) for curve in edge_curves(Layout(graph).draw(0))]


def test_keys_walk_through_the_graph(opened: Open) -> None:
    chromium = opened(build_xfg(read_module(HOSTILE)))
    chromium.execute_script("canvas.focus()")
    chosen = "return chosen"
    down, up, right, left, enter = "\ue015", "\ue013", "\ue014", "\ue012", "\ue007"
    press(chromium, down, down)
    assert chromium.execute_script(chosen) == 1
    press(chromium, up, right)
    assert chromium.execute_script(chosen) == 1  # from the root along its edge to the entry
    press(chromium, left)
    assert chromium.execute_script(chosen) == 0
    row = chromium.execute_script("return shape.firstLink + shape.links.findIndex(link => link === 1)")
    press(chromium, *([down] * row), enter)
    assert chromium.execute_script("return shape.number") == 1
    before = chromium.execute_script("return scale")
    press(chromium, "+")
    assert chromium.execute_script("return scale") > before
    reached = []
    for _ in range(10):
        reached.append(
            chromium.execute_script("return document.activeElement.id || document.activeElement.textContent")
        )
        press(chromium, "\ue004")
    controls = ["filter", "functions", "search", "previous", "next", "path", "data", "control", "closer"]
    assert reached == ["canvas", *controls]


def test_hostile_names_are_text(opened: Open) -> None:
    chromium = opened(build_xfg(read_module(HOSTILE, name=HOSTILE_NAME)))
    assert chromium.title == f"XFG of {HOSTILE_NAME}"
    assert part(chromium, "functions").find_elements("tag name", "option")[0].text == f"{HOSTILE_NAME} (4)"
    part(chromium, "search").send_keys("[31my\n")
    until(chromium, "chosen >= 0")
    assert part(chromium, "found").text == "2 here, 2 in 1 function"
    for row in range(chromium.execute_script("return shape.rows.labels.length")):
        chromium.execute_script("choose(arguments[0])", row)
        text = part(chromium, "details").text
        assert not set(text) & {"\u202e", "\x1b"}
    assert not chromium.find_elements("css selector", "img, i, b")
    assert len(chromium.find_elements("tag name", "script")) == 1  # the data are taken out once they are read


def test_a_function_of_20000_statements(opened: Open) -> None:
    lines = []
    for i in range(0, 20_000, 10):
        lines += [f"b{i}:", *(f"  %v{i + k} = add i32 %x, {i + k}" for k in range(9)), f"  br label %b{i + 10}"]
    ir = "\n".join(["define i32 @f(i32 %x) {", "  br label %b0", *lines, "b20000:", "  ret i32 %v5", "}", ""])
    chromium = opened(build_xfg(read_module(ir.encode())))
    part(chromium, "search").send_keys("19876\n")
    until(chromium, "chosen >= 0")
    assert part(chromium, "found").text == "1 here, 1 in 1 function"
    assert "%v19876 = add i32 %x, 19876" in part(chromium, "details").text
    near = picture(chromium)
    part(chromium, "fit").click()
    assert picture(chromium) != near
    assert chromium.execute_script("return scale") < 0.1
    part(chromium, "next").click()
    assert chromium.execute_script("return scale") > 0.5  # what is found can be read
