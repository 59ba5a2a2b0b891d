"""Which sources of a program hold device code."""

from tests.rooms import device_sources


def test_sources_with_device_code_are_found_but_for_those_that_others_include(tmp_path):
    texts = {
        "main.cu": '#include "kernels.cu"\nint main() { work<<<1, 32>>>(); }',
        "kernels.cu": "__global__ void work() {}",
        "deep/other.hip": "__global__ void other() {}",
        "plain.cu": "int f() { return 1; }",
        "host.cpp": "__global__ void not_cuda() {}",
    }
    (tmp_path / "deep").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert [str(file.relative_to(tmp_path)) for file in device_sources(tmp_path)] == ["deep/other.hip", "main.cu"]
    assert device_sources(tmp_path / "plain.cu") == [tmp_path / "plain.cu"]
    (tmp_path / "Makefile").write_text("all:\n\tnvcc -x cu host.cpp\n")
    assert tmp_path / "host.cpp" in device_sources(tmp_path)
