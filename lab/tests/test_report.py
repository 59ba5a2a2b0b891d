"""Reports: what their tables and pictures say, that they need nothing else, and that no name can break out of them."""

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from lab.tests.rooms import (
    INK,
    Cell,
    CoarseningComparison,
    Column,
    DeviceComparison,
    DeviceMapping,
    Dot,
    Estimate,
    Kind,
    LeakageReport,
    Row,
    Run,
    Table,
    ThreadCoarsening,
    best_of_kinds,
    clipped,
    draw_dots,
    reliability,
    score_runs,
    share_within,
    show,
    table_of,
    to_rich,
    to_text,
)
from ncc.errors import InputError
from tests.rooms import CoarseningSamples, DeviceMappingSamples

HOSTILE = "IR2Vec <script>alert('1')</script> & \"$\\frac{x\" \x00"
ABOUT = {"command": "ncc evaluate devmap", "versions": {"numpy": "1.2.3"}, "hardware": {"cores": 2}}
SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "img"}
LOG_RATIO = np.array([2.0, 1.0, -1.0, -2.0, 1.0, -1.0, 0.5, -0.5])


class Page(HTMLParser):
    """A page taken apart: tables as rows of texts, pictures, attributes. Elements must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.styles: dict[str, str] = {}
        self.images: list[dict[str, str]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.best: list[str] = []
        self._open: list[str] = []
        self._caption = ""
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self._class = given.get("class", "")
        if tag == "img":
            self.images.append(given)
        if tag == "table":
            self._caption = ""
        if tag == "tr":
            self.tables[self._caption].append([])
            self._row_class = self._class
        if tag in ("td", "th"):
            self.tables[self._caption][-1].append("")
            self._is_best = self._class == "best"
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "caption":
            self.tables[self._caption] = []
        if tag == "tr":
            self.styles[self.tables[self._caption][-1][0]] = self._row_class
        if tag == "td" and self._is_best:
            self.best.append(self.tables[self._caption][-1][-1])

    def handle_data(self, data: str) -> None:
        if "caption" in self._open:
            self._caption += data
        elif {"td", "th"} & set(self._open):
            self.tables[self._caption][-1][-1] += ("|" if self._class == "note" else "") + data


def svgs(page: Page) -> list[ET.Element]:
    start = "data:image/svg+xml;base64,"
    assert all(image["src"].startswith(start) for image in page.images)
    return [ET.fromstring(base64.b64decode(image["src"].removeprefix(start))) for image in page.images]


def texts(drawing: ET.Element) -> list[str]:
    return ["".join(found.itertext()) for found in drawing.iter(f"{SVG}text")]


def run(name: str, protocol: str, seed: int, predicted: NDArray[np.float64], seconds: float) -> Run:
    kinds: dict[str, Kind] = {"always": "control", "ncc": "ours"}
    kind = kinds.get(name.split(maxsplit=1)[0], "published")
    return Run(method=name, kind=kind, protocol=protocol, seed=seed, predicted=predicted, seconds=seconds)


def device_samples(platform: str = "amd", suite: str = "shoc") -> DeviceMappingSamples:
    """8 rows of 4 kernels, 2 suites."""
    num = len(LOG_RATIO)
    return DeviceMappingSamples(
        platform=platform,
        benchmark=np.array([f"npb-1.0-a-k{row // 2}" for row in range(num)]),
        dataset=np.array(["A"] * num),
        application=np.array([f"npb a{row // 4}" for row in range(num)]),
        suite=np.array(["npb"] * 6 + [suite] * 2),
        source=np.array(["void f"] * num, dtype=object),
        counts=np.ones((num, 8)),
        transfer_bytes=np.ones(num),
        wgsize=np.ones(num),
        runtime_cpu_ms=np.exp(LOG_RATIO),
        runtime_gpu_ms=np.ones(num),
        log_ratio=LOG_RATIO,
        is_gpu=LOG_RATIO > 0,
    )


def device_comparison(
    samples: DeviceMappingSamples, *, peer: str = "Grewe et al.", intervals: bool = True
) -> DeviceComparison:
    """Under two protocols: a control that is half right, a peer that errs in one row of 8, ours that never does."""
    sure = np.stack([LOG_RATIO, LOG_RATIO - 1, LOG_RATIO + 1, np.where(LOG_RATIO > 0, 0.9, 0.2)], axis=1)
    predictions: dict[str, NDArray[np.float64]] = {
        "always GPU": np.ones((8, 1)),
        peer: np.where(np.arange(8) == 1, -1, LOG_RATIO)[:, None],
        "ncc mapper": sure if intervals else sure[:, :1],
    }
    protocols = ("kernel", "suite")
    scores = [
        score_runs(DeviceMapping(samples), [run(name, protocol, seed, rows, 1.5) for seed in (1, 2)])
        for protocol in protocols
        for name, rows in predictions.items()
    ]
    leakage = LeakageReport(
        protocol="kernel",
        platform=samples.platform,
        seed=1,
        num_folds=4,
        num_test_rows=8,
        shared={
            "kernel": 0,
            "source": 2,
            "ir": None,
            "transfer": 8,
            "auxiliary": 4,
            "application": 6,
            "suite": 8,
        },
    )
    return DeviceComparison(tuple(scores), (leakage,), {samples.platform: samples})


def test_scores_show_themselves_as_tables_in_a_notebook() -> None:
    scores = device_comparison(device_samples())
    scores = replace(scores, scores=(replace(scores.scores[0], method="<b>"), *scores.scores[1:]))
    html = scores._repr_html_()
    assert html.startswith("<table><caption>")
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert html.count("<table>") == sum(isinstance(part, Table) for part in scores.parts())


@pytest.fixture(scope="module")
def text() -> str:
    samples = device_samples()
    return device_comparison(samples).to_page(ABOUT)


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def coarsening_samples() -> CoarseningSamples:
    """3 kernels on 2 devices, the first of them best at 4, the others at 1; at 32 nothing is measured."""
    gains = np.array([[1.0, 1.5, 2.0, 1.0, 0.5, np.nan], *[[1.0, 0.8, 0.5, 0.4, 0.25, np.nan]] * 2])
    return CoarseningSamples(
        kernel=np.repeat(["first", "second", "third"], 2),
        device=np.tile(["Fermi", "Tahiti"], 3),
        source=np.repeat(np.array(["void a", "void b", "void b"], dtype=object), 2),
        components=np.zeros((6, 6, 7)),
        runtime=np.repeat(10 / gains, 2, axis=0),
    )


def coarsening_comparison(samples: CoarseningSamples, peer: str = "Magni et al.") -> CoarseningComparison:
    """A constant, a peer that chooses 32 in one seed of three, and ours that is right."""

    def choose(*factors: int) -> NDArray[np.float64]:
        return np.eye(6)[list(factors)]

    predictions = {
        "always 4": [choose(2, 2, 2, 2, 2, 2)] * 3,
        peer: [choose(1, 1, 0, 0, 0, 0)] * 2 + [choose(5, 1, 0, 0, 0, 0)],
        "ncc": [choose(2, 2, 0, 0, 0, 0)] * 3,
    }
    scores = [
        score_runs(ThreadCoarsening(samples), [run(name, "kernel", seed, rows, 2.0) for seed, rows in enumerate(each)])
        for name, each in predictions.items()
    ]
    return CoarseningComparison(tuple(scores), samples)


def test_the_page_needs_nothing_else(text: str, page: Page) -> None:
    assert not re.search(r"@import|url\(|<script|<link|<iframe", text)
    assert "default-src 'none'" in text
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert len(page.links) == 5
    assert all(not re.search(r"(?:href|src)=\"(?!#|data:)", ET.tostring(drawing).decode()) for drawing in svgs(page))


def test_the_page_can_be_read_without_seeing_it(text: str, page: Page) -> None:
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.count("caption") == page.tags.count("table") == len(page.tables)
    assert page.tags.count("figure") == page.tags.count("figcaption") == len(page.images) == 7
    alts = [image["alt"] for image in page.images]
    assert alts[0] == (
        "Accuracy of every method, by protocol. kernel: highest ncc mapper with 100.0%; suite: highest ncc mapper with "
        "100.0%."
    )
    assert "suite, always GPU: 0% of CPU rows and 100% of GPU rows right" in alts[3]
    assert "kernel, Grewe et al.: 100% of CPU rows and 75% of GPU rows right" in alts[3]
    assert "kernel, Grewe et al.: 88% of the rows within 1.1×, 88% within 2×" in alts[6]
    assert "suite, always GPU: 50% of the rows within 1.1×, 62% within 2×" in alts[6]
    assert len(set(alts)) == 7


def test_drawings_follow_light_and_dark(page: Page) -> None:
    for image, drawing in zip(page.images, svgs(page), strict=True):
        source = base64.b64decode(image["src"].partition(",")[2]).decode()
        assert INK not in source
        assert "currentColor" in source
        assert "prefers-color-scheme: dark" in source
        assert float(drawing.attrib["width"].removesuffix("pt")) * 4 / 3 == pytest.approx(int(image["width"]), abs=1)


def test_the_headline_table_has_every_method_under_every_protocol(page: Page) -> None:
    rows = page.tables["All methods on amd, by protocol"]
    assert rows[0] == ["method", "kernel", "suite"]
    assert rows[1] == ["accuracy", "geometric-mean speedup"] * 2
    always, peer, ours, oracle = rows[2:]
    assert always[0] == "always GPU|control"
    assert always[1].startswith("50.0%|")
    assert always[2].startswith("1.00×|")
    assert peer[0] == "Grewe et al.|published method, run again"
    assert peer[3].startswith("87.5%|")
    assert ours[1] == "100.0% best|100.0–100.0"
    assert oracle == ["a perfect choice", "100.0%", "1.76×", "100.0%", "1.76×"]
    assert [page.styles[row[0]] for row in (always, peer, ours, oracle)] == ["control", "published", "ours", "oracle"]


def test_the_best_of_each_column_is_marked_and_ties_are_all_best(page: Page) -> None:
    rows = page.tables["amd, kernel: speedups over always CPU, intervals drawn from 4 kernels"]
    assert rows[0][:3] == ["method", "accuracy", "macro F1"]
    assert rows[0][-4:] == ["coverage of the 80% interval", "accuracy over the seeds", "seeds", "seconds"]
    assert [[" best" in cell for cell in row[1:]] for row in rows[1:]] == [
        [False] * 9,
        [False] * 9,
        [True] * 5 + [False] * 4,
    ]
    assert rows[2][-3:] == ["87.5%–87.5%", "2", "3.0"]
    assert rows[3][6] == "100.0%|100.0–100.0"
    tied = replace(device_comparison(device_samples()).scores[2], method="ncc twin")
    twins = DeviceComparison((device_comparison(device_samples()).scores[2], tied), (), {})
    lines = [line for line in twins.to_text().splitlines() if line.startswith("ncc ")]
    assert [line.count("★") for line in lines] == [3, 3]


def test_the_summary_sets_the_best_of_each_kind_side_by_side(page: Page) -> None:
    rows = page.tables["The most accurate method of each kind; here a star marks the best of its row"]
    assert rows[0] == ["platform and protocol", "control", "published method, run again", "ours"]
    assert [rows[2][at] for at in (0, 1, 4, 7)] == ["amd, kernel", "always GPU", "Grewe et al.", "ncc mapper"]


def test_the_audit_gives_shares_and_rows(page: Page) -> None:
    rows = page.tables["Test rows that share with a training row their …"]
    assert rows[0][1:6] == ["folds", "kernel", "source", "ir", "transfer"]
    assert rows[1] == [
        *("kernel, amd", "4", "0.0%|0 rows", "25.0%|2 rows", "–", "100.0%|8 rows"),
        *("50.0%|4 rows", "75.0%|6 rows", "100.0%|8 rows"),
    ]


def test_what_was_run_is_told(text: str) -> None:
    assert "<dt>command</dt><dd><code>ncc evaluate devmap</code></dd>" in text
    assert "<dt>versions</dt><dd>numpy 1.2.3</dd>" in text
    assert "3 methods, 1 platforms, protocols kernel, suite, seeds 1, 2, 8 rows each; 18 seconds" in " ".join(
        text.split()
    )


def test_pictures_show_what_they_should(page: Page) -> None:
    drawings = dict(
        zip(
            ("accuracy", "speedup", "suites", "confusion", "reliability", "coverage", "regret"),
            map(texts, svgs(page)),
            strict=True,
        )
    )
    assert {"kernel", "suite", "always GPU", "Grewe et al.", "ncc mapper"} <= set(drawings["accuracy"])
    assert {"npb (6)", "shoc (2)", "83"} <= set(drawings["suites"])
    assert drawings["confusion"].count("4 rows") == 2 * (1 + 1 + 1 + 2)
    assert drawings["confusion"].count("3 rows") == 2  # the peer's error is the same under both protocols
    assert "always GPU" not in drawings["reliability"]
    assert set(drawings["coverage"]) >= {"ncc mapper", "coverage"}
    assert {"always GPU", "1×", "5×"} <= set(drawings["regret"])


def test_calibration_is_drawn_for_methods_that_state_it() -> None:
    samples = device_samples()
    text = device_comparison(samples, intervals=False).to_page(ABOUT)
    assert "Regret" in text
    assert "Reliability" not in text
    assert "Coverage of the 80% interval" not in text


def test_reports_are_the_same_every_time(text: str) -> None:
    samples = device_samples()
    assert device_comparison(samples).to_page(ABOUT) == text


def test_names_can_t_break_out_of_the_page() -> None:
    samples = device_samples(HOSTILE, HOSTILE)
    text = device_comparison(samples, peer=HOSTILE).to_page({HOSTILE: {HOSTILE: [HOSTILE]}})
    page = Page(text)
    assert "script" not in page.tags
    assert "\0" not in text
    shown = HOSTILE.replace("\0", "\\u0000")
    assert any(row[0].startswith(f"{shown}|") for row in page.tables[f"All methods on {shown}, by protocol"])
    assert any(shown in image["alt"] for image in page.images)
    assert clipped(HOSTILE) in texts(svgs(page)[0])
    assert all(drawing.find(f".//{SVG}script") is None for drawing in svgs(page))
    coarse = coarsening_samples()
    other = Page(coarsening_comparison(coarse, HOSTILE).to_page({HOSTILE: HOSTILE}))
    assert "script" not in other.tags


@pytest.mark.parametrize("comparison", [DeviceComparison((), (), {}), CoarseningComparison((), coarsening_samples())])
def test_a_report_needs_scores(comparison: DeviceComparison | CoarseningComparison) -> None:
    with pytest.raises(InputError, match="expected at least one score to report, found none"):
        comparison.to_page(ABOUT)


def test_coarsening_has_its_tables_and_pictures() -> None:
    samples = coarsening_samples()
    page = Page(coarsening_comparison(samples).to_page(ABOUT))
    caption = next(
        name
        for name in page.tables
        if name.startswith("kernel: kernels never seen, each left out with all its devices")
    )
    rows = page.tables[caption]
    assert caption.endswith("; 3 groups")
    assert rows[1] == [
        *("mean speedup", "geometric-mean speedup", "share of the oracle", "exact"),
        *("NVIDIA GTX 480", "AMD Tahiti 7970", "not measured", "seeds", "seconds"),
    ]
    assert [row[0] for row in rows[2:]] == [
        "always 4|control",
        "Magni et al.|published method, run again",
        "ncc|ours",
        "a perfect choice",
    ]
    assert rows[4][1].startswith("1.33× best|")
    assert rows[3][5:7] == ["1.06×", "1.17×"]  # of three seeds, one chose 32 on the GTX 480, which runs at half speed
    assert rows[3][7:] == ["5.6%", "3", "6.0"]
    assert rows[5][1].startswith("1.33×|")
    leaked = page.tables["Test rows that share with a training row their …"]
    assert leaked[1] == ["kernel", "3", "0.0%|0 rows", "66.7%|4 rows"]
    assert len(page.images) == 5
    choices = texts(svgs(page)[2])
    assert {"first", "second", "third", "Fermi", "Tahiti", "best control: always 4", "best peer: Magni et al."} <= {
        *choices
    }
    assert (choices.count("1"), choices.count("2"), choices.count("4")) == (12, 2, 10)
    assert "32" not in choices  # what most seeds choose is shown
    assert "kernel, always 4: 33% of the rows within 1.1×, 100% within 2×" in page.images[4]["alt"]
    assert "Magni et al. makes 0 of 3 kernels slower" in page.images[3]["alt"]
    assert "always 4 makes 2 of 3 kernels slower" in page.images[3]["alt"]


def test_predictions_are_grouped_by_what_they_state() -> None:
    stated = np.array([[0.05, 0.72, 0.78, 1.0], [0.0, 0.72, 0.78, 0.95]])
    mean, share, num = reliability(stated, np.array([False, True, False, True]))
    assert mean == pytest.approx([0.025, 0.75, 0.975])
    assert share == pytest.approx([0, 0.5, 1])
    assert num.tolist() == [2, 4, 2]


def test_shares_within_a_slowdown_count_its_end() -> None:
    slowdown = np.array([1.0, 2.0, 1.0, 4.0])
    assert share_within(slowdown, np.array([1.0, 1.9, 2.0, 4.0])).tolist() == [0.5, 0.5, 0.75, 1.0]
    assert share_within(np.array([0.1 * 3 / 0.3]), np.array([1.0])).tolist() == [1.0]  # a last digit above 1


def test_the_best_of_each_kind_is_the_first_of_the_highest() -> None:
    scores = device_comparison(device_samples()).scores[:3]
    twin = replace(scores[0], method="always CPU")
    best = best_of_kinds([twin, *scores], lambda score: score.metrics.accuracy)
    assert [(kind, score.method) for kind, score in best.items()] == [
        ("control", "always CPU"),
        ("published", "Grewe et al."),
        ("ours", "ncc mapper"),
    ]


def test_long_names_keep_both_ends() -> None:
    assert clipped("short") == "short"
    assert clipped("random vector per kernel + auxiliary (log_ratio)", 30) == "random vector per k…log_ratio)"
    assert clipped("two\nlines\x07") == "two lines\\u0007"


def test_thirty_methods_get_a_row_each_and_no_formula_is_made_of_a_name() -> None:
    found = Estimate(value=0.5, low=0.4, high=0.6, per_seed=np.array([0.5]))
    dots = [Dot(f"${number}$", "ours", found) for number in range(30)]
    picture = draw_dots({"panel": dots}, "share", percent=True)
    drawing = ET.fromstring(picture.svg)
    at = {
        "".join(text.itertext()): float(text.attrib["y"]) for text in drawing.iter(f"{SVG}text") if "y" in text.attrib
    }
    rows = [at[f"${number}$"] for number in range(30)]
    assert (np.diff(rows) > 9).all()  # more than the height of a letter
    assert at["share"] > rows[-1]
    with pytest.raises(InputError, match="expected at least one panel to draw, found none"):
        draw_dots({}, "share")


def test_figures_are_shown_with_their_ranges() -> None:
    half = Estimate(value=0.5, low=0.25, high=0.754, per_seed=np.array([0.5]))
    assert show(half, "%") == Cell("50.0%", "25.0–75.4")
    assert show(half, "×", 2, is_best=True) == Cell("0.50×", "0.25–0.75", is_best=True)
    assert [show(figure) for figure in (None, "as it is", 1234.56, Cell("own"))] == [
        *(Cell("–"), Cell("as it is"), Cell("1,234.6"), Cell("own"))
    ]


def test_a_table_is_text_in_a_terminal() -> None:
    columns = [
        Column[float]("share", lambda score: score, "%", is_ranked=True, group="all"),
        Column[float]("of what", lambda score: Cell("[b]x[/b]" if score else "–", is_name=True)),
    ]
    table = table_of("A caption", columns, [0.25, 0.0], row=lambda score, cells: Row(f"at {score}", cells))
    assert table.groups == [("all", 1), ("", 1)]
    assert to_text(table).splitlines() == [
        "A caption",
        "             all",
        "method     share  of what",
        "at 0.25  ★ 25.0%  [b]x[/b]",
        "at 0.0      0.0%  –",
    ]
    assert to_text(Table("", ["a"], [])) == "a"


def test_a_table_fits_a_narrow_terminal() -> None:
    columns = [
        Column[float]("share", lambda score: show(score, "%", is_best=bool(score)), group="all"),
        Column[float]("of what", lambda score: Cell("[b]x[/b]\x1b[2J", "a note", is_name=True)),
    ]
    table = table_of("A caption", columns, [0.25, 0.0], row=lambda score, cells: Row(f"at {score}", cells))
    console = Console(width=60, file=StringIO())
    console.print(to_rich(table))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(map(len, lines)) <= 60
    text = " ".join(" ".join(lines).split())
    for shown in ("A caption", "all", "★ 25.0%", "[b]x[/b]\\u001b[2J", "a note"):
        assert shown in text
