"""Atomic writes, and reading of files that may be damaged."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import AssetError, OutputError
from tests.rooms import folder_lock, open_atomically, read_model, read_tensors, storage, write_atomically, write_model
from tests.support.refuses import refuses


def test_permissions_are_those_that_open_would_give(tmp_path):
    for mask in (0o022, 0o077, 0o002):
        before = os.umask(mask)
        try:
            write_atomically(tmp_path / "file", b"")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask


def test_many_writers_of_one_file_leave_one_whole_file(tmp_path):
    path, start = tmp_path / "file", threading.Barrier(8)

    def write(number):
        start.wait()
        write_atomically(path, bytes([number]) * 100_000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    content = path.read_bytes()
    assert len(content) == 100_000
    assert len(set(content)) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "made" / "on the way" / "file"
    for content in (b"first", b"second"):
        with open_atomically(path) as file:
            for _ in range(3000):
                file.write(content)
            assert not path.exists() or path.read_bytes() == 3000 * b"first"
        assert path.read_bytes() == 3000 * content
        assert [child.name for child in path.parent.iterdir()] == ["file"]
    with pytest.raises(KeyError), open_atomically(path) as file:
        file.write(b"third")
        raise KeyError
    assert path.read_bytes() == 3000 * b"second"
    assert [child.name for child in path.parent.iterdir()] == ["file"]


def test_a_process_that_is_killed_while_it_writes_leaves_the_old_file(tmp_path):
    program = (
        "import os, signal, sys\nfrom ncc.system.files.writing import open_atomically\n"
        "with open_atomically(sys.argv[1]) as file:\n    file.write(bytes(1 << 20))\n    file.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (tmp_path / "file").write_bytes(b"old")
    killed = subprocess.run([sys.executable, "-c", program, tmp_path / "file"], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [child.name for child in tmp_path.iterdir() if not child.name.startswith(".")] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_an_output_to_standard_output_goes_where_that_goes(tmp_path):
    script = (
        "print('before'); from ncc.system.files.writing import write_output; "
        "write_output({!r}, b'data\\n'); print('after')"
    )
    for name in ("/dev/stdout", str(tmp_path / "out")):
        with (tmp_path / "out").open("wb") as out:
            subprocess.run([sys.executable, "-c", script.format(name)], stdout=out, check=True, timeout=60)
        assert (tmp_path / "out").read_text() == "before\ndata\nafter\n"
    piped = subprocess.run([sys.executable, "-c", script.format("/dev/stdout")], stdout=-1, check=True, timeout=60)
    assert piped.stdout == b"before\ndata\nafter\n"


def test_a_model_is_not_saved_in_the_midst_of_another(tmp_path, monkeypatch):
    second: list[threading.Thread] = []

    def write(path: Path, data: bytes) -> None:
        write_atomically(path, data)
        if not second:
            arguments = (tmp_path, "m", {"format_version": 1, "number": 2}, {"a": np.full(9, 2)})
            second.append(threading.Thread(target=write_model, args=arguments))
            second[0].start()
            second[0].join(0.3)

    monkeypatch.setattr(storage, "write_atomically", write)
    write_model(tmp_path, "m", {"format_version": 1, "number": 1}, {"a": np.full(9, 1)})
    second[0].join(30)
    assert read_model(tmp_path, "m", 1, ("a",))[0]["number"] == 2


def test_a_folder_has_one_writer(tmp_path):
    folder = tmp_path / "made"
    refused = []

    def ask() -> None:
        try:
            with folder_lock(folder, wait_s=0.05):
                pass
        except OutputError as error:
            refused.append(str(error))

    with folder_lock(folder), folder_lock(folder / "..", wait_s=0), folder_lock(folder, wait_s=0):
        other = threading.Thread(target=ask)
        other.start()
        other.join(30)
    assert len(refused) == 1
    assert refused[0].startswith(f"{folder}: can't be written: another run of ncc is writing to this folder")
    ask()
    assert len(refused) == 1
    assert list(folder.iterdir()) == []
    with pytest.raises(KeyError), folder_lock(tmp_path / "empty"):
        raise KeyError
    assert not (tmp_path / "empty").exists()


def _sparse(path: Path, **shapes: tuple[int, ...]) -> None:
    """A safetensors file of bytes 0, of which the disk holds the header alone."""
    header, at = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape))
        header[name] = {"dtype": "U8", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    os.truncate(path, 8 + len(text) + at)


@pytest.fixture
def _little_memory():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (8 << 30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, before)


@pytest.mark.usefixtures("_little_memory")
def test_only_wanted_tensors_are_read_and_their_sizes_come_first(tmp_path):
    path = tmp_path / "m.safetensors"
    _sparse(path, a=(3,), b1=(2, 2), extra=(5 << 32,))
    assert read_tensors(path, ["a"]).keys() == {"a"}
    for names in (["extra"], None):
        with refuses(AssetError, "'extra' is too large", "of shape", "21474836480", "raise NCC_INPUT_GB"):
            read_tensors(path, names)
    (tmp_path / "m.json").write_text('{"format_version": 1}')
    with refuses(AssetError, "m.safetensors", "has 21,474", "bytes", "more than 2 GB", "NCC_INPUT_GB"):
        read_model(tmp_path, "m", 1, ["a"])
    _sparse(path, a=(3,), extra=(1 << 30,))
    assert read_model(tmp_path, "m", 1, ["a"])[1].keys() == {"a"}
    with refuses(AssetError, "'extra' is too large"):
        read_model(tmp_path, "m", 1)
    with (tmp_path / "m.json").open("r+b") as card:
        card.truncate(2**27 + 1)  # within the limit of other files
    with refuses(AssetError, "m.json", "more than 134,217,728 bytes", "NCC_INPUT_GB"):
        read_model(tmp_path, "m", 1, ["a"])
