"""``ncc explore``: what it writes, what it serves and to whom, and what it refuses."""

import itertools
import json
import re
import shutil
import signal
import socket
import urllib.error
import urllib.request
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.contract.cases import IR, SOURCES
from tests.fixtures.pages import data_of
from tests.rooms import content_hash
from tests.support.refuses import check_message
from tests.support.verbs import run_here, start

KERNEL = SOURCES.parents[3] / "datasets" / "samples" / "saxpy.cl"


def data_in(folder: Path, name: str) -> dict:
    """The data of a file beside the page."""
    match = re.fullmatch(r'receive\("([\w/]+)", "([\w+/=]+)"\)\n', (folder / f"{name}.js").read_text())
    assert match
    called, packed = match.groups()
    assert called == name
    return data_of(f'<script id="data:{name}">{packed}</script>')[name]


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A folder of a source with copies, and a kernel."""
    folder = tmp_path / "code"
    folder.mkdir()
    shutil.copy(SOURCES / "dot.c", folder / "dot.c")
    shutil.copy(SOURCES / "dot.c", folder / "again.c")
    shutil.copy(KERNEL, folder)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A folder of IR with a copy, which nothing has to compile."""
    (tmp_path / "code").mkdir()
    for name in ("tree.ll", "again.ll"):
        shutil.copy(IR / "tree.clang22.ll", tmp_path / "code" / name)
    monkeypatch.chdir(tmp_path)


def test_a_folder_holds_what_is_known(code, tmp_path):
    finished = run_here("explore", "code", "-o", "pages", "--gpu", "A100")
    assert (finished.code, finished.err) == (0, "")
    table = data_in(tmp_path / "pages", "table")
    names, columns = table["columns"]["name"], table["columns"]
    assert f"{len(names)} functions" in finished.out
    assert table["files"] == ["code/again.c", "code/dot.c", "code/saxpy.cl"]
    assert {len(values) for values in columns.values()} == {len(names)}
    assert len([*(tmp_path / "pages" / "functions").iterdir()]) == len(names)
    for row, name in enumerate(names):
        data = data_in(tmp_path / "pages", f"functions/{row}")
        assert data["notes"] == [] and name in data["code"][0] and len(data["graph"]["labels"]) > 2
        assert len(data["code"]) > 1
        has_copy = columns["file"][row] < 2
        assert (columns["nearest"][row] == 1) == has_copy
        assert (data["nearest"][0][1] == 1) == has_copy
        assert ("kernel" in data) == (name == "saxpy") == (columns["speedup"][row] is not None)
        if name == "saxpy":
            kernel = data["kernel"]
            assert kernel["curve"].startswith("<svg ")
            assert any(kernel["effect"]) and len(kernel["effect"]) == len(data["graph"]["labels"])
            assert {launch[0] for launch in data["roofline"]["launches"]} == {16, 256, 4096, 65536}
    page = (tmp_path / "pages" / "index.html").read_text()
    assert not re.search(r"(src|href)=", page) and "https:" not in page


def test_commands_print_the_same_facts(code, tmp_path):
    run_here("index", "code", "-o", "code.index")
    assert run_here("explore", "code.index", "-o", "pages").code == 0
    data = data_in(tmp_path / "pages", "functions/0")
    words = data["commands"]["nearest"].split()
    matches = run_here(*words[1:], "--json").rows[0]["matches"]
    assert [round(match["similarity"], 3) for match in matches] == [similarity for _, similarity, _ in data["nearest"]]
    assert run_here(*data["commands"]["graph"].split()[1:]).code == 0
    assert (tmp_path / "graph.svg").read_text().startswith("<svg ")


@pytest.mark.usefixtures("module")
def test_very_many_functions_are_compared_after_the_page_opened(tmp_path, monkeypatch):
    run_here("explore", "code", "-o", "pages")
    monkeypatch.setattr("ncc.verbs.explore.facts._MAX_COMPARED", 1)
    run_here("explore", "code", "-o", "more")
    table, later = data_in(tmp_path / "pages", "table"), data_in(tmp_path / "more", "table")
    compared = data_in(tmp_path / "more", "compared")
    assert (table["later"], later["later"], set(compared)) == ([], ["compared"], {"nearest", "copies"})
    assert not (tmp_path / "pages" / "compared.js").exists()
    assert later["columns"] | compared == table["columns"]


def test_nothing_that_is_there_is_replaced(code, tmp_path):
    check_message(run_here("explore", "code", "-o", "code").err, "code", "not empty")
    assert sorted(path.name for path in code.iterdir()) == ["again.c", "dot.c", "saxpy.cl"]


@pytest.mark.parametrize(
    ("words", "nouns"),
    [
        (("nothing",), ("nothing", "no such file")),
        (("empty",), ("empty", "no file in this folder holds code")),
        (("code", "--gpu", "Voodoo"), ("Voodoo", "A100")),
        (("code", "--port", "70000"), ("--port", "65535")),
    ],
)
def test_what_is_refused(code, tmp_path, words, nouns):
    (tmp_path / "empty").mkdir()
    finished = run_here("explore", *words, "-o", "pages")
    assert finished.code in (1, 2)
    check_message(finished.err, *nouns)
    assert not (tmp_path / "pages").exists()


def test_a_file_without_functions_fails_alone(code, tmp_path):
    (code / "broken.c").write_text("int f( {")
    finished = run_here("explore", "code", "-o", "pages")
    assert finished.code == 1
    check_message(finished.err, "broken.c")
    assert (tmp_path / "pages" / "index.html").exists()


def test_files_that_change_or_vanish_are_said_to(code, tmp_path):
    run_here("index", "code", "-o", "code.index")
    (code / "again.c").write_text("int other(int x) { return x; }\n")
    (code / "dot.c").unlink()
    assert run_here("explore", "code.index", "-o", "pages").code == 0
    table = data_in(tmp_path / "pages", "table")
    notes = {
        table["files"][file]: data_in(tmp_path / "pages", f"functions/{row}")
        for row, file in enumerate(table["columns"]["file"])
    }
    assert "changed since it was indexed" in notes["code/again.c"]["notes"][0] and "graph" not in notes["code/again.c"]
    assert "no such file" in notes["code/dot.c"]["notes"][0] and "graph" not in notes["code/dot.c"]
    assert run_here("explore", "code.index", "--root", "code", "-o", "trusted").code == 0
    data = data_in(tmp_path / "trusted", "functions/0")
    assert "has other functions" in data["notes"][-1]


def test_an_index_of_a_stranger_shows_no_other_file(code, tmp_path):
    """A file that the index names, whose content its author did not know, and one that includes a file elsewhere."""
    secret = tmp_path / "secret.h"
    secret.write_text("int secret(void) { return 4711; }\n")
    (code / "dot.c").write_text('#include "../secret.h"\nint f(int x) { return secret() + x; }\n')
    assert run_here("index", tmp_path, "-o", tmp_path / "code.index").code == 0
    files = next((tmp_path / "code.index").glob("files-*.json"))
    rows = json.loads(files.read_text())
    assert {row[1] for row in rows} == {str(tmp_path)}
    assert run_here("explore", "code.index", "-o", "pages").code == 0
    for path in (tmp_path / "pages" / "functions").iterdir():
        data = data_in(tmp_path / "pages", f"functions/{path.stem}")
        assert ("graph" in data) == (data["notes"] == [])
        assert "4711" not in json.dumps(data.get("graph"))
        assert data["notes"] == [] or "access denied" in data["notes"][0]


@pytest.fixture
def served(module, _interruptible):
    """The address of the page, and the process that serves it."""
    process = start("explore", "code", "--no-open", stdout=-1, stderr=-1)
    assert process.stdout
    line = process.stdout.readline().decode()
    try:
        yield line.split()[-1], process
    finally:
        process.kill()
        process.communicate()


def ask(address: str, path: str | None = None, **headers: str) -> int:
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    with closing(connection):
        connection.request("GET", parts.path if path is None else path, headers=headers)
        return connection.getresponse().status


def test_the_page_is_served_until_it_is_ended(served):
    address, process = served
    with urllib.request.urlopen(address) as answer:
        assert b"<!doctype html>" in answer.read()
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    for name in ("table.js", "functions/0.js", "compared.js"):
        with urllib.request.urlopen(address + name) as answer:
            assert answer.read().startswith(b'receive("')
    for path in (
        "/",
        "/table.js",
        "/x/table.js",
        urlsplit(address).path + "functions/99.js",
        urlsplit(address).path + "../../etc/passwd",
    ):
        assert ask(address, path) == 404
    assert ask(address, Host="evil.example") == 404
    with socket.create_connection((urlsplit(address).hostname, urlsplit(address).port)) as gone:
        gone.sendall(b"GET ")  # and goes away
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, b"", b"")
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address)


@pytest.mark.usefixtures("module")
def test_a_port_in_use_is_an_error_and_nothing_is_left(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        finished = run_here("explore", "code", "--no-open", "--port", taken.getsockname()[1])
    assert finished.code == 2
    check_message(finished.err, "port", "can't be used", "--port")
    assert not [*(tmp_path / "temporary").glob("ncc-explore-*")]


@pytest.mark.usefixtures("module")
def test_what_a_killed_run_leaves_is_removed_by_the_next(tmp_path, monkeypatch):
    """But not the index of one that still runs, an empty folder, which may be new, or what a link leads to."""
    temporary = tmp_path / "temporary"
    for folder in ("ncc-explore-new", "other", "other/inside"):
        (temporary / folder).mkdir(parents=True)
    (temporary / "ncc-explore-link").symlink_to(temporary / "other")
    monkeypatch.setenv("TMPDIR", str(temporary))
    before, processes = {*temporary.iterdir()}, []
    folders: list[set[Path]] = []
    try:
        for _ in range(3):
            processes.append(start("explore", "code", "--no-open", stdout=-1, stderr=-1))
            page = processes[-1].stdout
            assert page and b"http" in page.readline()
            folders.append({*temporary.iterdir()} - before.union(*folders))
            if len(processes) == 1:
                processes[0].kill()
                processes[0].wait()
                assert folders[0] <= {*temporary.iterdir()}
        assert {*temporary.iterdir()} == before | folders[1] | folders[2]
        assert [len(made) for made in folders] == [1, 1, 1]
        assert all(any(folder.iterdir()) for folder in folders[1] | folders[2])
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@pytest.mark.usefixtures("module")
def test_a_forged_index_is_an_error_or_text(tmp_path):
    run_here("index", "code", "-o", "code.index")
    rows = next((tmp_path / "code.index").glob("functions-*.rows"))
    content, card = rows.read_bytes(), tmp_path / "code.index" / "index.json"
    length = len(content) // json.loads(card.read_text())["num_functions"]
    for column, value in itertools.product(range(4), (-1, -(2**31), 2**31 - 1, 7)):
        forged = content[: 4 * column] + value.to_bytes(4, "little", signed=True) + content[4 * column + 4 :]
        rows.write_bytes(forged)
        about = json.loads(card.read_text())
        about["files"][rows.name] = [len(forged), content_hash(forged + forged)]
        card.write_text(json.dumps(about))
        output = tmp_path / f"pages{column}{value}"
        finished = run_here("explore", "code.index", "-o", output)
        assert finished.code == (1 if column == 0 else 0), finished.err
        assert not finished.err or "is damaged" in finished.err
    assert length == 32
