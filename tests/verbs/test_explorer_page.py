"""The explorer's page in a browser: Debian's Chromium, driven by Selenium; it makes the pictures of the how-to.

With NCC_PICTURES set, the pictures are written into ``docs/howto/pictures``.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.pages import HOSTILE
from tests.support.browser import chromium, part, requested, until
from tests.support.verbs import run_here, start

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
AXE = ROOT / ".ci" / "page" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = ROOT / "docs" / "howto" / "pictures"
DOWN, ENTER, RIGHT = "\ue015", "\ue007", "\ue014"


@pytest.fixture(scope="module", name="chromium")
def _chromium() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples, kernels, and a module of hostile names, as a folder of files."""
    folder = tmp_path_factory.mktemp("explorer")
    for name in ("samples", "kernels"):
        shutil.copytree(ROOT / "datasets" / name, folder / "code" / name, ignore=shutil.ignore_patterns("*.py"))
    shutil.copy(folder / "code" / "samples" / "sort.c", folder / "code" / "samples" / "sorting.c")
    (folder / "code" / "<img src=x onerror=alert(1)>.ll").write_bytes(HOSTILE)
    with chdir(folder):
        finished = run_here("explore", "code", "-o", "pages", "--gpu", "A100")
    assert finished.code == 0, finished.err
    return folder / "pages"


@pytest.fixture(name="browser")
def _browser(chromium: Any, folder: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page; afterwards it has said nothing to the console and asked for nothing but its own files."""
    scheme = {"name": "prefers-color-scheme", "value": getattr(request, "param", "light")}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    chromium.get("about:blank")
    requested(chromium)
    chromium.get((folder / "index.html").as_uri())
    until(chromium, "table !== null && document.querySelector('#functions .row')")
    yield chromium
    assert chromium.get_log("browser") == []
    assert all(address.startswith((folder.as_uri(), "about:")) for address in requested(chromium))


in_both_themes = pytest.mark.parametrize("browser", ["light", "dark"], indirect=True)


def settle(browser: Any) -> None:
    """Wait until all is drawn: lists make their rows anew."""
    browser.execute_async_script(
        "requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(arguments[0])))"
    )


def choose(browser: Any, name: str) -> None:
    """Show the first function of a name."""
    browser.execute_script("go({ function: columns.name.indexOf(arguments[0]), row: -1 })", name)
    until(browser, f"current?.name === '{name}'")


def keep(browser: Any, name: str) -> None:
    """Keep a picture for the how-to, if wanted, of the light page."""
    is_dark = "return matchMedia('(prefers-color-scheme: dark)').matches"
    if os.environ.get("NCC_PICTURES") and not browser.execute_script(is_dark):
        PICTURES.mkdir(exist_ok=True)
        browser.set_window_size(1120, 860)
        settle(browser)
        assert browser.save_screenshot(str(PICTURES / f"{name}.png"))


def test_copies_are_listed(browser: Any) -> None:
    choose(browser, "quicksort")
    (button,) = part(browser, "facts").find_elements("tag name", "button")
    assert button.text == "list its 2 copies"
    button.click()
    until(browser, "listed.length === 2")
    names = browser.execute_script("return [...listed].map(number => columns.name[number])")
    assert names == ["quicksort", "quicksort"]
    assert part(browser, "near").find_elements("css selector", "td")[0].text == "1.000"
    keep(browser, "copies")
    part(browser, "near").find_element("css selector", "td button").click()
    until(browser, "current && placeOf(current.number) !== placeOf(listed[0]) || current?.number === listed[1]")


def test_columns_that_take_a_while_come_later(chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncc.verbs.explore.facts._MAX_COMPARED", 1)
    assert run_here("explore", ROOT / "datasets" / "samples", "-o", tmp_path / "pages").code == 0
    page, compared = tmp_path / "pages" / "index.html", tmp_path / "pages" / "compared.js"
    compared.rename(tmp_path / "kept.js")
    chromium.get(page.as_uri() + "#function=0&sort=nearest")
    until(chromium, "byId('functions').title.includes(\"can't be read\") && current")
    heading = "[...document.querySelectorAll('#functions [role=columnheader]')].map(one => one.dataset.sort)"
    assert chromium.execute_script(f"return {heading}") == ["name", "place", "statements", "speedup"]
    (tmp_path / "kept.js").rename(compared)
    chromium.refresh()
    until(chromium, f"{heading}.includes('nearest') && current")
    assert chromium.execute_script("return columns.nearest[listed[0]] === Math.min(...columns.nearest)")
    assert chromium.execute_script(f"return {heading}")[:4] == ["name", "place", "statements", "nearest"]
    assert chromium.execute_script("return document.querySelectorAll('#functions .heading').length") == 1
    chromium.get_log("browser")


def test_selection_is_linked_and_has_an_address(browser: Any) -> None:
    choose(browser, "matmul")
    until(browser, "document.querySelectorAll('#source .row').length > 5")
    text = browser.execute_script("source.pick(6); return source.inner.querySelectorAll('.row')[6].textContent")
    until(browser, "current.row >= 0")
    until(browser, "document.querySelector('#code [aria-selected=true]')")
    line = browser.execute_script("return current.first") + 6
    assert browser.execute_script("return current.shape.line[current.row]") == line
    until(browser, "document.querySelector('#source [aria-selected=true]')")
    chosen = browser.execute_script("return document.querySelector('#source [aria-selected=true]').textContent")
    assert chosen == text and text.startswith(str(line))
    address, row = browser.current_url, browser.execute_script("return current.row")
    browser.get("about:blank")
    browser.get(address)
    until(browser, f"current?.row === {row}")
    assert part(browser, "name").text == "matmul"


@in_both_themes
def test_why_the_answer_is_what_it_is(browser: Any) -> None:
    choose(browser, "serial_sum")
    until(browser, "document.querySelectorAll('#kernel svg').length === 2")
    shades = browser.execute_script("return graph.shades.filter(Boolean)")
    assert shades and {color[:7] for color in shades} <= {
        browser.execute_script(f"return colors.{one}") for one in ("cpu", "gpu")
    }
    row = browser.execute_script("return graph.shades.findIndex(Boolean)")
    browser.execute_script("go({ row: arguments[0], search: 'kernels' })", row)
    assert "× towards " in part(browser, "details").text
    keep(browser, "why")


def test_kernels_are_sorted_by_speedup(browser: Any) -> None:
    heading = part(browser, "functions").find_element("css selector", "[data-sort=speedup]")
    for order in ("ascending", "descending"):
        heading.find_element("tag name", "button").click()
        until(browser, f"document.querySelector('[data-sort=speedup]').getAttribute('aria-sort') === '{order}'")
    lows = browser.execute_script("return [...listed].map(number => columns.speedup[number]?.[0] ?? -1)")
    assert lows == sorted(lows, reverse=True) and lows[0] > 1
    browser.execute_script("go({ function: listed[0], row: -1, search: 'kernels' })")
    until(browser, "document.querySelectorAll('#kernel svg').length === 2")
    browser.execute_script("document.querySelectorAll('#kernel svg')[1].scrollIntoView({ block: 'end' })")
    keep(browser, "worth")


def test_hostile_names_are_text(browser: Any) -> None:
    part(browser, "search").send_keys("<img")
    until(browser, "listed.length === 2")
    browser.execute_script("go({ function: listed[0], row: 3 })")
    until(browser, "current?.number === listed[0]")
    assert "<img src=x onerror=alert(1)>" in part(browser, "name").text
    assert "<img src=x onerror=alert(1)>.ll" in part(browser, "facts").text
    assert "\\u202e" in browser.execute_script("return current.shape.labels.join()")
    assert not browser.find_elements("css selector", "img, i, b")
    assert not set(browser.find_element("tag name", "body").text) & {"\u202e", "\x1b"}


def test_keys_lead_everywhere(browser: Any) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys("/", "sort", DOWN, DOWN, ENTER).perform()
    until(browser, "current?.number === listed[1]")
    assert browser.execute_script("return document.activeElement.id") == "functions"
    browser.execute_script("byId('map').focus()")
    ActionChains(browser).send_keys(RIGHT).perform()
    browser.execute_script("byId('code').focus()")
    ActionChains(browser).send_keys(DOWN, DOWN).perform()
    until(browser, "current?.row === 1")
    assert browser.execute_script("return code.box.getAttribute('aria-activedescendant')") == "code-1"


def test_pictures_and_tables_are_saved(browser: Any, tmp_path: Path) -> None:
    choose(browser, "serial_sum")
    until(browser, "document.querySelector('#kernel svg')")
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    for button in [
        part(browser, "csv"),
        *part(browser, "kernel").find_elements("tag name", "button"),
        part(browser, "graph-png"),
    ]:
        button.click()
    names = {"functions.csv", "speedup.svg", "roofline.svg", "graph.png"}
    for name in names:
        for _ in range(100):
            if (tmp_path / name).exists() and (tmp_path / name).stat().st_size:
                break
            browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert {path.name for path in tmp_path.iterdir()} == names
    assert (tmp_path / "functions.csv").read_text().startswith("name,place,statements")
    assert "<svg" in (tmp_path / "speedup.svg").read_text()


@in_both_themes
@pytest.mark.skipif(not AXE.exists(), reason="needs axe-core: make page")
def test_no_serious_barrier_is_found(browser: Any) -> None:
    choose(browser, "matmul")
    until(browser, "document.querySelector('#kernel svg')")
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script("axe.run().then(arguments[0])")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], one["nodes"][0]["html"]) for one in serious] == []


@pytest.mark.usefixtures("_interruptible")
def test_a_served_page_shows_the_same(chromium: Any, tmp_path: Path) -> None:
    process = start("explore", ROOT / "datasets" / "samples", "--no-open", stdout=-1, stderr=-1)
    try:
        assert process.stdout
        address = process.stdout.readline().decode().split()[-1]
        requested(chromium)
        chromium.get(address + "#function=0")
        until(chromium, "current?.number === 0")
        assert part(chromium, "name").text == chromium.execute_script("return columns.name[0]")
        assert all(one.startswith((address, "about:")) for one in requested(chromium))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        chromium.execute_script("go({ function: 1, row: -1 })")
        until(chromium, "current?.number === 1")
        assert "can't be read" in part(chromium, "notes").text
    finally:
        process.kill()
        process.communicate()
        chromium.get_log("browser")
