"""Objects with bitcode in them, and archives of such objects, wherever IR is read."""

import io
import os
import subprocess
from pathlib import Path

import pytest

import ncc
from ncc.errors import InputError, IRError
from tests.rooms import InputFile, find_compiler, find_inputs, list_members, load_module, read_input
from tests.support.refuses import refuses

CODE = {"add": "int add(int a, int b) { return a + b; }", "mul": "int mul(int a, int b) { return a * b; }"}
KINDS = {
    "embedded": ("-fembed-bitcode",),
    "lto": ("-flto",),
    "thin-lto": ("-flto=thin",),
    "fat-lto": ("-flto", "-ffat-lto-objects"),
    "mach-o": ("-fembed-bitcode", "--target=arm64-apple-macos13"),
    "coff": ("-fembed-bitcode", "--target=x86_64-windows-gnu"),
}


def _compile(path: Path, name: str, *flags: str) -> bytes:
    command = [*find_compiler().argv, "-O1", "-x", "c", "-c", "-o", str(path), *flags, "-"]
    subprocess.run(command, input=CODE[name].encode(), check=True, capture_output=True)
    return path.read_bytes()


def _archive(members: dict[str, bytes]) -> bytes:
    """As GNU's ar writes it, with a table of long names."""
    names = "".join(f"{name}/\n" for name in members).encode()
    entries = [(b"/", b"\0\0\0\0"), (b"//", names)]
    for name, data in members.items():
        short = f"{name}/" if len(name) < 16 else f"/{names.index(name.encode())}"
        entries.append((short.encode(), data))
    return _written(entries)


def _written(entries: list[tuple[bytes, bytes]]) -> bytes:
    parts = [b"%-48s%-10d`\n" % (name, len(data)) + data + b"\n" * (len(data) % 2) for name, data in entries]
    return b"!<arch>\n" + b"".join(parts)


@pytest.fixture(scope="module")
def objects(tmp_path_factory) -> dict[str, bytes]:
    place = tmp_path_factory.mktemp("objects") / "one.o"
    return {
        "add.o": _compile(place, "add", "-fembed-bitcode"),
        "the_product_of_two_numbers.o": _compile(place, "mul", "-flto"),
        "machine_code.o": _compile(place, "add"),
    }


@pytest.fixture
def library(tmp_path, objects) -> Path:
    path = tmp_path / "lib.a"
    path.write_bytes(_archive(objects))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_bitcode_is_found_in_objects_of_every_kind(tmp_path, kind):
    data = _compile(tmp_path / "add.o", "add", *KINDS[kind])
    module = ncc.load_module(tmp_path / "add.o")
    assert module.function_names == ("add",)
    assert module.read_via == "bitcode"
    assert ncc.load_module(data).texts == module.texts


def test_an_object_without_bitcode_is_refused_with_what_to_do(tmp_path, objects):
    path = tmp_path / "plain.o"
    path.write_bytes(objects["machine_code.o"])
    with refuses(InputError, "plain.o", "LLVM", "compile", "-fembed-bitcode"):
        ncc.embed(path)
    (tmp_path / "lib.a").write_bytes(_archive({"plain.o": objects["machine_code.o"]}))
    [item] = find_inputs([str(tmp_path / "lib.a")])
    assert "lib.a: no file of this archive holds LLVM bitcode; compile" in str(item.error)
    [item] = find_inputs([str(tmp_path)])
    assert f"{tmp_path}: no file in this folder holds code: .C .a .bc" in str(item.error)


def test_a_section_that_is_named_and_not_there_is_an_error(objects):
    with refuses(IRError, "LLVM", "object", "sections", "bitcode"):
        ncc.load_module(objects["machine_code.o"] + b".llvmbc")
    with refuses(IRError, "LLVM", "object"):
        ncc.load_module(objects["add.o"][:700] + b".llvmbc")


def test_each_module_of_an_archive_is_an_input(library):
    items = find_inputs([str(library)])
    names = [f"{library}(add.o)", f"{library}(the_product_of_two_numbers.o)"]
    assert [item.name for item in items] == names
    assert [load_module(item.source).function_names for item in items] == [("add",), ("mul",)]
    assert ncc.embed(names[1]).module.name == names[1]
    assert [item.name for item in find_inputs([names[0]])] == names[:1]
    assert [item.name for item in find_inputs([str(library.parent)])] == names
    assert [item.name for item in find_inputs([f"{library.parent}/*.a"])] == names
    with refuses(InputError, "holds 2 modules", "name one of them", "lib.a(add.o)"):
        ncc.embed(library)
    with refuses(InputError, "lib.a", "'div.o'", "its 3"):
        ncc.embed(f"{library}(div.o)")
    with refuses(InputError, "an archive (members: 3)"):
        ncc.embed(library.read_bytes())


def test_an_archive_of_one_module_is_that_module(tmp_path, objects):
    path = tmp_path / "lib.a"
    path.write_bytes(_archive({name: objects[name] for name in ("add.o", "machine_code.o")}))
    assert ncc.embed(path).module.function_names == ("add",)


MEMBERS = {
    "of one name": (["a.o", "a.o"], ["a.o", "a.o#2"]),
    "of one name, and one that is called like a number": (["a.o", "a.o#2", "a.o"], ["a.o", "a.o#2", "a.o#3"]),
    "of one name, the numbers before them": (["a.o#3", "a.o#2", "a.o", "a.o"], ["a.o#3", "a.o#2", "a.o", "a.o#4"]),
    "without a name": (["", "b.o", ""], ["", "b.o", "#2"]),
    "with folders": (["x/a.o", "../../a.o", "y/"], ["x/a.o", "../../a.o", "y/"]),
    "with brackets": (["f(x).o", "x.a(y).o", "(", ")"], ["f(x).o", "x.a(y).o", "(", ")"]),
    "with lines and blanks": (["a b.o", " ", "[a]*"], ["a b.o", " ", "[a]*"]),
}


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("folder", [".", "dir.a(1)"])
def test_each_member_is_found_by_its_name(tmp_path, kind, folder):
    given, names = MEMBERS[kind]
    table = "".join(f"{name}/\n" for name in given).encode()
    entries, place = [(b"//", table)], 0
    for number, name in enumerate(given):
        entries.append((b"/%d" % place, b"BC\xc0\xde%d" % number))
        place += len(name) + 2
    path = tmp_path / folder / "lib.a"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(_written(entries))
    items = find_inputs([str(path.parent)])
    assert [item.name for item in items] == [f"{path}({name})" for name in names]
    for number, item in enumerate(items):
        assert read_input(item.source) == read_input(item.name) == b"BC\xc0\xde%d" % number
        with refuses(IRError, "LLVM", "bitcode"):
            load_module(item.source)


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not count what is read")
def test_what_is_read_of_an_archive_grows_with_its_members(tmp_path):
    def bytes_read() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    costs = []
    for number in (500, 2000):
        path = tmp_path / f"{number}.a"
        path.write_bytes(_written([(b"%d.o/" % index, b"BC\xc0\xde%4d" % index) for index in range(number)]))
        before = bytes_read()
        items = find_inputs([str(path)])
        assert [read_input(item.source)[4:] for item in items] == [b"%4d" % index for index in range(number)]
        costs.append(bytes_read() - before)
    assert costs[1] < 5 * costs[0]


@pytest.mark.parametrize(
    ("data", "nouns"),
    [
        (b"!<thin>\n", ["thin archive"]),
        (b"rubbish", ["not an archive"]),
        (b"!<arch>\nabc", ["damaged archive", "byte 8 of 11"]),
        (b"!<arch>\n%-48s%-10d`\n" % (b"a.o/", 7), ["damaged archive"]),
        (b"!<arch>\n%-48s%-10s`\n" % (b"a.o/", b"-7"), ["damaged archive"]),
        (b"!<arch>\n%-48s%-10d`\n%b" % (b"//", 4096, b"a" * 4096) + 99 * (b"%-48s0         `\n" % b"/0"), ["names"]),
    ],
)
def test_what_is_wrong_with_an_archive_is_told(tmp_path, data, nouns):
    with refuses(InputError, *nouns):
        list_members(io.BytesIO(data), "lib.a")
    path = tmp_path / "lib.a"
    path.write_bytes(data)
    with refuses(InputError, path):
        ncc.embed(path)


def test_an_archive_that_leads_out_of_its_folder_is_refused(tmp_path, library):
    (tmp_path / "inside").mkdir()
    link = tmp_path / "inside" / "link.a"
    try:
        link.symlink_to(library)
    except OSError:
        pytest.skip("this system makes no links")
    with refuses(InputError, "is a link out of"):
        read_input(InputFile(f"{link}(add.o)", str(link.parent)))
    with refuses(InputError, "is a link out of"):
        [item] = find_inputs([str(link.parent)])
        load_module(item.source)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_no_archive(tmp_path):
    os.mkfifo(tmp_path / "lib.a")
    assert [item.error for item in find_inputs([str(tmp_path)])] == [
        f"{tmp_path / 'lib.a'}: is a pipe or a device, not a file"
    ]
