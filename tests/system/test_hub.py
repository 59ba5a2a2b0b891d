"""Models by name: those that ship, folders, and repositories of a server that speaks the hub's protocol."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import ncc
from tests.support.hub import Hub, Server
from tests.support.refuses import refuses

constants = pytest.importorskip("huggingface_hub.constants")
SAXPY = str(Path(__file__).parents[1] / "data" / "ir" / "saxpy.clang14.ll")
LOADERS = {
    "embedding": ncc.load_embedding,
    "encoder": ncc.load_encoder,
    "device_head": ncc.load_device_head,
    "gpu_head": ncc.load_gpu_head,
    "coarsening_head": ncc.load_coarsening_head,
    "classifier": ncc.load_classifier,
}


@pytest.fixture
def hub(tmp_path, monkeypatch):
    hub = Hub()
    with Server(hub) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("HF_TOKEN", "hf_writer")
        monkeypatch.chdir(tmp_path)
        yield hub
        server.shutdown()
        thread.join()


@pytest.fixture
def published(hub, tmp_path):
    """A repository with a head for coarsening, and pickles beside it."""
    ncc.load_coarsening_head().save_pretrained(tmp_path / "head")
    hub.publish("org/name", tmp_path / "head", head_pkl=b"\x80", pytorch_model_bin=b"\x80", evil_py=b"")
    return hub


@pytest.mark.parametrize("noun", LOADERS)
def test_a_model_is_saved_with_its_page_and_published_and_loaded_by_name(noun, hub, tmp_path):
    load = LOADERS[noun]
    model = load()
    assert load("shipped") is model
    model.save_pretrained(tmp_path / "saved")
    assert f"ncc.load_{noun}" in (tmp_path / "saved" / "README.md").read_text()
    assert model.push_to_hub("org/name") == f"{hub.address}/org/name/commit/{hub.commit('org/name')}"
    files = hub.repositories["org/name"]
    page = files["README.md"].decode()
    assert f'ncc.load_{noun}("org/name")' in page
    assert json.loads(page.partition("```json\n")[2].partition("\n```")[0]) == model.card
    loaded = load("org/name")
    assert (repr(loaded), loaded.card) == (repr(model), model.card)
    assert {path.name for path in (tmp_path / "cache").rglob("*.*") if path.is_symlink()} == files.keys() - {
        "README.md"
    }


def test_a_page_that_is_there_stays(hub, tmp_path):
    hub.repositories["org/name"] = {"README.md": b"by hand"}
    (tmp_path / "README.md").write_text("by hand")
    ncc.load_gpu_head().save_pretrained(tmp_path)
    ncc.load_gpu_head().push_to_hub("org/name")
    assert (tmp_path / "README.md").read_text() == "by hand"
    assert hub.repositories["org/name"]["README.md"] == b"by hand"


def test_text_of_a_card_does_not_leave_its_block(tmp_path):
    head = ncc.load_coarsening_head()
    shutil.copytree(Path(ncc.__file__).parent / "assets" / "coarsening", tmp_path / "head", dirs_exist_ok=True)
    card = json.loads((tmp_path / "head" / "head.json").read_text())
    card["card"]["data"], card["devices"][0] = "x\n```\n<script>\u202e", "a\n# b\u202e"
    (tmp_path / "head" / "head.json").write_text(json.dumps(card))
    ncc.load_coarsening_head(tmp_path / "head").save_pretrained(tmp_path / "saved")
    lines = (tmp_path / "saved" / "README.md").read_text().splitlines()
    assert lines.count("```") == 2
    assert [line for line in lines if line.startswith("#")] == [
        repr(head).replace("Fermi", "# a\\u000a# b\\u202e").replace("LineHead(# ", "# LineHead(")
    ]


def test_only_the_two_files_of_a_model_are_loaded_and_only_once(published):
    head = ncc.load_coarsening_head("org/name")
    assert sorted(published.loaded()) == ["head.json", "head.safetensors"]
    assert ncc.load_coarsening_head("org/name").card == head.card
    assert len(published.loaded()) == 2


def test_a_revision_can_be_pinned_and_needs_no_hub_once_it_is_cached(published, tmp_path):
    old = published.commit("org/name")
    ncc.load_coarsening_head(f"org/name@{old}")
    published.publish("org/name", tmp_path / "head", more_txt=b"")
    published.requests.clear()
    ncc.load_coarsening_head(f"org/name@{old}")
    assert published.requests == []
    ncc.load_coarsening_head("org/name")
    assert published.commit("org/name") != old
    assert any("main" in path for _, path in published.requests)


def test_the_cache_answers_offline(published, monkeypatch):
    head = ncc.load_coarsening_head("org/name")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    published.requests.clear()
    assert ncc.load_coarsening_head("org/name").card == head.card
    with refuses(ncc.AssetError, "org/other", "cache", "HF_HUB_OFFLINE"):
        ncc.load_coarsening_head("org/other")
    with refuses(ncc.OutputError, "org/name", "offline"):
        head.push_to_hub("org/name")
    assert published.requests == []


@pytest.mark.parametrize("is_refused", [True, False])
def test_a_hub_out_of_reach_is_said_within_seconds(is_refused, published, monkeypatch):
    """Whether it refuses connections, or takes them and never answers; what is cached is still loaded."""
    head = ncc.load_coarsening_head("org/name")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = "http://{}:{}".format(*silent.getsockname())
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}"
        )
        if is_refused:
            silent.close()
        begin = time.monotonic()
        with refuses(ncc.AssetError, "org/other", "cache", "out of reach"):
            ncc.load_coarsening_head("org/other")
        assert time.monotonic() - begin < 15  # the library's own retries take half a minute
        assert ncc.load_coarsening_head("org/name").card == head.card


def test_what_a_repository_lacks_is_named(published, tmp_path):
    with refuses(ncc.AssetError, "org/other", "neither a folder nor a repository"):
        ncc.load_coarsening_head("org/other")
    with refuses(ncc.AssetError, "org/name@v2", "revision"):
        ncc.load_coarsening_head("org/name@v2")
    with refuses(ncc.AssetError, "org/name", "encoder.json and encoder.safetensors or lstm.json"):
        ncc.load_encoder("org/name")
    with refuses(ncc.AssetError, "device-mapping head"):
        ncc.load_device_head("org/name")
    del published.repositories["org/name"]["head.safetensors"]
    with refuses(ncc.AssetError, "org/name", "head.safetensors", "pickles"):
        ncc.load_coarsening_head("org/name")
    assert not [name for name in published.loaded() if name.endswith(("pkl", "bin", "py"))]
    for name in ("a..b/c", "a/" + "b" * 96, "a/" + "b" * 300, "x" * 300):
        with refuses(ncc.AssetError, name):
            ncc.load_coarsening_head(name)


def test_a_wrong_hash_is_refused(published):
    content = bytearray(published.repositories["org/name"]["head.safetensors"])
    content[-1] ^= 1
    published.repositories["org/name"]["head.safetensors"] = bytes(content)
    with refuses(ncc.AssetError, "head.safetensors", "doesn't match head.json"):
        ncc.load_coarsening_head("org/name")


@pytest.mark.parametrize(("size", "nouns"), [(3 * 2**30, ("head.safetensors", "NCC_INPUT_GB")), (None, ())])
def test_a_file_that_is_too_large_is_refused_before_it_is_loaded(size, nouns, published):
    """Or of unknown size, which older clients of the hub refuse themselves."""
    published.claimed_sizes["head.safetensors"] = size
    with refuses(ncc.AssetError, "org/name", *nouns):
        ncc.load_coarsening_head("org/name")
    assert published.loaded() == ["head.json"]


def test_a_model_that_ships_comes_before_a_folder_of_its_name(hub, tmp_path):
    ncc.load_coarsening_head().save_pretrained(tmp_path / "lstm")
    assert "LSTMHead" in repr(ncc.load_coarsening_head("lstm"))
    assert "LineHead" in repr(ncc.load_coarsening_head("./lstm"))
    with refuses(ncc.AssetError, "lstm", "GPU head"):
        ncc.load_gpu_head("lstm")


def test_a_name_in_a_folder_that_exists_is_a_path_and_a_folder_wins(published, tmp_path):
    (tmp_path / "org").mkdir()
    with refuses(ncc.AssetError, "org/name/head.json", "no such file"):
        ncc.load_coarsening_head("org/name")
    assert published.requests == []
    ncc.load_coarsening_head("org/name@main")
    shutil.copytree(tmp_path / "head", tmp_path / "org" / "name")
    published.requests.clear()
    for place in ("org/name", Path("org/name"), str(tmp_path / "head"), "head"):
        ncc.load_coarsening_head(place)
    with refuses(ncc.AssetError, "no such file"):
        ncc.load_coarsening_head(Path("other/name"))
    assert published.requests == []


def test_who_may_not_write_is_refused(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    with refuses(ncc.OutputError, "org/name", "hf auth login"):
        ncc.load_gpu_head().push_to_hub("org/name")


def test_a_command_reads_a_head_by_name_in_workers_too(published, tmp_path):
    environment = {**os.environ, "HF_ENDPOINT": published.address, "HF_HUB_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "ncc", "predict-coarsening", SAXPY, SAXPY, "--head", "org/name", "--jobs", "2"]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.count(f"{SAXPY}: saxpy") == 2
