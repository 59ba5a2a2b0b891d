"""Linker names: whose a function is, and one name for what two C++ libraries mangle in two ways."""

import pytest

from tests.rooms import is_library_function, library_name
from tests.support.text import rows


@pytest.mark.parametrize("case", rows("names.txt"))
def test_names(case):
    kind, *names = case[0].split()
    if kind in ("library", "author"):
        assert [is_library_function(name) for name in names] == [kind == "library"]
    else:
        spelled = {library_name(name) for name in names}
        assert len(spelled) == (len(names) if kind == "differ" else 1)
        assert kind != "plain" or spelled == {*names}


@pytest.mark.parametrize("name", ["_Z", "_Z3", "_Z999999x", "_ZN", "_ZNSt", "_ZNSt3__1", "_ZE", "_ZS", "_ZNSi"])
def test_names_that_are_cut_off_are_no_trouble(name):
    assert isinstance(library_name(name), str)
    assert is_library_function(name) == name.startswith(("_ZNSt", "_ZNSi"))


@pytest.mark.parametrize(
    "name", ["_ZNSolsEi", "_ZNSt3__15rtypeIcE2idE", "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"]
)
def test_substitutions_are_no_words(name):
    assert not any(word.startswith("_") or not word for word in library_name(name).split(" ")[:-2])
