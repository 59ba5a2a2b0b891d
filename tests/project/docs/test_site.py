"""The site is built without a warning, and asks nothing of any other."""

import html
import inspect
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import ncc
from tests.support.browser import chromium, requested, until

pytestmark = pytest.mark.full
pytest.importorskip("mkdocs", reason="mkdocs is not installed; pip install '.[docs]'")
pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed; pip install '.[docs]'")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built pages."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return folder


def test_pages_load_nothing_from_elsewhere(site):
    loaded = r"""(?:\bsrc(?:set)?=|<link[^>]*\bhref=|url\(|@import )\s*["']?((?:https?:)?//[^"')\s]+)"""
    found = {
        (path.name, address)
        for path in [*site.rglob("*.html"), *site.rglob("*.css")]
        for address in re.findall(loaded, path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_links_of_pages_lead_to_files_and_anchors(site):
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html") if path.name != "404.html"}
    anchors = {path: {"", *re.findall(r"\b(?:id|name)=[\"']?([^\"'\s>]+)", text)} for path, text in pages.items()}
    broken = []
    for page, text in pages.items():
        for link in re.findall(r"\b(?:href|src|srcset)=[\"']([^\"'\s]*)", text):
            target, _, anchor = unquote(html.unescape(link)).partition("#")
            file = (page.parent / target).resolve() if target else page
            if not re.match(r"[a-z]+:", target) and (not file.is_file() or anchor not in anchors.get(file, {anchor})):
                broken.append((page.relative_to(site).as_posix(), link))
    assert len(pages) > 70
    assert broken == []


def test_the_reference_has_every_public_name_once(site):
    pages = "".join(
        path.read_text(encoding="utf-8") for part in ("python", "commands") for path in (site / part).iterdir()
    )
    public = [
        name for name in ncc.__all__ if inspect.isfunction(getattr(ncc, name)) or inspect.isclass(getattr(ncc, name))
    ]
    assert len(public) > 40
    counts = {name: len(re.findall(rf'id="[\w.]+\.{name}" class="doc', pages)) for name in public}
    assert {name: count for name, count in counts.items() if count != 1} == {}


@pytest.mark.parametrize(
    ("verb", "key", "unit"),
    [("predict-device", "times_ms", "in ms"), ("predict-gpu", "interval_ms", "80%"), ("embed", "vectors", "numbers")],
)
def test_pages_of_commands_have_options_and_keys(site, verb, key, unit):
    page = (site / "commands" / f"{verb}.html").read_text(encoding="utf-8")
    assert f"Usage: ncc {verb} " in page
    assert re.search(rf"<code>{key}</code></td>\s*<td>[^\n]*{unit}", page)


@pytest.mark.parametrize("page", ["commands/predict-device", "commands/embed", "python/vectors"])
def test_the_reference_has_the_texts_that_verbs_share(site, page):
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    assert "<p>Statement embedding, or its name: a folder, or ORG/NAME on the Hugging Face hub; default: the" in text


@pytest.mark.parametrize("field", ["low", "high"])
def test_fields_that_share_a_text_have_it_each(site, field):
    page = (site / "python" / "devices.html").read_text(encoding="utf-8")
    assert re.search(rf"DeviceCurve\.{field}\">(?:(?!</tr>).)*ends of its 80% interval", page, re.S)


def test_search_reaches_every_command(site):
    found = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert [path.name for path in (ROOT / "docs/commands").glob("*.md") if path.stem not in found] == []


def test_the_search_of_the_built_folder_answers_without_a_server_and_a_network(site):
    with chromium() as browser:
        browser.get((site / "commands" / "embed.html").as_uri())
        box = browser.find_element("css selector", "input.md-search__input")
        box.click()
        for words, title in (
            ("roofline", "GPU times"),
            ("NCC_CACHE", "Environment variables"),
            ("undecided", "Questions"),
            ("--transfer", "ncc predict-device"),
        ):
            box.clear()
            box.send_keys(words)
            until(browser, f"document.querySelector('.md-search-result__list')?.innerText.includes('{title}')")
        assert browser.get_log("browser") == []
        assert [address for address in requested(browser) if not address.startswith(("file:", "data:"))] == []


def test_pages_of_the_repository_and_files_that_they_link_are_there(site):
    for name in ("index.html", "benchmarks.html", "security.html", "datasets/devmap.html"):
        assert (site / name).is_file()
    assert (site / "files" / "benchmarks" / "results" / "devmap.json").is_file()
