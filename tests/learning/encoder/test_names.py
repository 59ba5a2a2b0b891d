"""Linker names: whose a function is, and one name for what two C++ libraries mangle in two ways."""

import pytest

from tests.rooms import is_library_function, library_name

ISTREAM = "NSt3__113basic_istreamIcNS_11char_traitsIcEEE"
OSTREAM = "NSt3__113basic_ostreamIcNS_11char_traitsIcEEE"


@pytest.mark.parametrize(
    "name",
    [
        # functions, methods, constructors and destructors of std, as both libraries mangle them
        "_ZSt4sortIPiEvT_S1_",
        "_ZNSt3__14sortB9nie220108IPiEEvT_S2_",
        "_ZSt16__introsort_loopIPilN9__gnu_cxx5__ops15_Iter_less_iterEEvT_S4_T0_T1_",
        "_ZNSt6vectorIiSaIiEE9push_backERKi",
        "_ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backB9nie220108ERKi",
        "_ZNKSt6vectorIiSaIiEE4sizeEv",
        "_ZNKRSt8optionalIiE5valueEv",
        "_ZNOSt8optionalIiE5valueEv",
        "_ZNSt6vectorIiSaIiEEC2Ev",
        "_ZNSt3__16vectorIiNS_9allocatorIiEEED2B9nie220108Ev",
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE13_S_copy_charsEPcPKcS7_",
        # abbreviations: allocator, basic_string, string, istream, ostream, iostream
        "_ZNSaIcED2Ev",
        "_ZNSbIwSt11char_traitsIwESaIwEEC1Ev",
        "_ZNKSs4sizeEv",
        "_ZNSi3getEv",
        "_ZNSolsEi",
        "_ZNSdD0Ev",
        # operators
        "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
        "_ZNSt3__1lsB9nie220108INS_11char_traitsIcEEEERNS_13basic_ostreamIcT_EES6_PKc",
        "_ZStplIcSt11char_traitsIcESaIcEENSt7__cxx1112basic_stringIT_T0_T1_EERKS8_SA_",
        "_ZNKSt6vectorIiSaIiEEixEm",
        # what stands beside std
        "_ZN9__gnu_cxx17__normal_iteratorIPiSt6vectorIiSaIiEEEppEv",
        "_ZN10__cxxabiv117__class_type_infoD0Ev",
        # on the author's types, but the library's code
        "_ZSt4sortIP4NodePFbRKS0_S3_EEvT_S6_T0_",
        "_ZNSt6vectorI4NodeSaIS0_EE9push_backERKS0_",
        # tables, guards and references that the compiler makes for the library's classes
        "_ZTVNSt3__19exceptionE",
        "_ZGVNSt3__15ctypeIcE2idE",
        # the compiler's own
        "_GLOBAL__sub_I_main.cpp",
        "_GLOBAL__I_000101",
        "__cxx_global_var_init",
        "__cxx_global_var_init.12",
        "__cxx_global_array_dtor",
        "__clang_call_terminate",
        "_ZTH7counter",
        "_ZTW7counter",
    ],
)
def test_functions_of_the_library_and_of_the_compiler(name):
    assert is_library_function(name)


@pytest.mark.parametrize(
    "name",
    [
        "main",
        "solve",
        "sort",
        "printf",
        "St",
        "_start",
        "global_init",
        "mine_ZSt4sortIPiEvT_S1_",
        "_Z4sortPii",
        "_Z3maxii",
        "_Z2Stv",
        "_Z3Stdv",
        "_Z2mxIiET_S0_S0_",
        "_ZL6staticPi",
        # on types of std
        "_Z5solveRSt6vectorIiSaIiEE",
        "_Z5solveRNSt3__16vectorIiNS_9allocatorIiEEEE",
        "_Z3cmpRKSt4pairIiiES2_",
        "_Z3useIRSt6vectorIiSaIiEEEvOT_",
        # methods, constructors, destructors and operators of the author's classes
        "_ZN4Node2goERSt6vectorIiSaIiEE",
        "_ZN4Node4initEv",
        "_ZNK4Node4sizeEv",
        "_ZN4NodeC2Ei",
        "_ZN4NodeD1Ev",
        "_ZNK4NodeltERKS_",
        "_ZeqRK4NodeS1_",
        "_ZlsRSoRK4Node",
        "_ZlsRNSt3__113basic_ostreamIcNS_11char_traitsIcEEEERK4Node",
        "_ZrsRSiR4Node",
        "_ZN5StackIiE4pushEi",
        "_ZN3Std3runEv",
        # namespaces, with and without a name
        "_ZN2ns1fEi",
        "_ZN3std1fEv",
        "_ZN12_GLOBAL__N_11gEPi",
        # lambdas and classes inside the author's functions
        "_ZZ4mainENK3$_0clEi",
        "_ZZ4mainENKUlRKSt4pairIiiES2_E_clES2_S2_",
        "_ZZ5solveRSt6vectorIiSaIiEEENK3$_0clEi",
        # tables of the author's classes
        "_ZTV4Node",
        "_ZThn8_N4Node2goEv",
        "__cxx_mine",
    ],
)
def test_functions_of_the_author(name):
    assert not is_library_function(name)


@pytest.mark.parametrize(
    ("libstdcxx", "libcxx"),
    [
        ("_ZSt3cin", "_ZNSt3__13cinE"),
        ("_ZSt4cout", "_ZNSt3__14coutE"),
        ("_ZNSirsERi", f"_Z{ISTREAM}rsERi"),
        ("_ZNSirsERd", f"_Z{ISTREAM}rsERd"),
        ("_ZNSirsERf", f"_Z{ISTREAM}rsERf"),
        ("_ZNSirsERx", f"_Z{ISTREAM}rsERx"),
        ("_ZNSolsEi", f"_Z{OSTREAM}lsEi"),
        ("_ZNSolsEd", f"_Z{OSTREAM}lsEd"),
        ("_ZNSolsEj", f"_Z{OSTREAM}lsEj"),
        ("_ZNSi3getEv", f"_Z{ISTREAM}3getEv"),
        ("_ZNSi7getlineEPcl", f"_Z{ISTREAM}7getlineB9nie220108EPcl"),
        ("_ZNSo3putEc", f"_Z{OSTREAM}3putEc"),
        ("_ZNSt8ios_base9precisionEl", "_ZNSt3__18ios_base9precisionEl"),
        (
            "_ZNKSt9basic_iosIcSt11char_traitsIcEE3eofEv",
            "_ZNKSt3__19basic_iosIcNS_11char_traitsIcEEE3eofB9nie220108Ev",
        ),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZNSt3__16vectorIiNS_9allocatorIiEEE9push_backB9nie220108ERKi"),
        ("_ZNKSt6vectorIiSaIiEE4sizeEv", "_ZNKSt3__16vectorIiNS_9allocatorIiEEE4sizeB9nie220108Ev"),
        ("_ZNSt5dequeIiSaIiEE9push_backEOi", "_ZNSt3__15dequeIiNS_9allocatorIiEEE9push_backEOi"),
        (
            "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6substrEmm",
            "_ZNKSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE6substrB9nie220108Emm",
        ),
        (
            "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev",
            "_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEED1Ev",
        ),
        ("_ZSt4sortIPiEvT_S1_", "_ZNSt3__14sortB9nie220108IPiEEvT_S2_"),
        ("_ZSt16next_permutationIPiEbT_S1_", "_ZNSt3__116next_permutationB9nie220108IPiEEbT_S2_"),
        ("_ZSt9terminatev", "_ZSt9terminatev"),
        ("printf", "printf"),
    ],
)
def test_both_libraries_share_a_name(libstdcxx, libcxx):
    assert library_name(libstdcxx) == library_name(libcxx)


def test_a_tag_of_the_abi_is_of_no_account():
    names = [
        f"_ZNSt3__16vectorIiNS_9allocatorIiEEE9push_back{tag}ERKi" for tag in ("", "B9nie220108", "B8ne180100", "B3abi")
    ]
    assert len({library_name(name) for name in names}) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("_ZNSirsERi", "_ZNSirsERd", "_ZNSirsERl", "_ZNSolsEi", "_ZNSolsEd", "_ZNSi3getEv", "_ZNSi3getERc"),
        tuple(f"_Z{ISTREAM}{rest}" for rest in ("rsERi", "rsERd", "3getEv", "4peekEv")),
        tuple(f"_Z{OSTREAM}{rest}" for rest in ("lsEi", "lsEd", "lsEb", "3putEc", "5flushEv")),
        ("_ZSt3cin", "_ZSt4cout", "_ZSt4cerr", "_ZNSirsERi"),
        ("_ZNSt6vectorIiSaIiEEC1Ev", "_ZNSt6vectorIiSaIiEED1Ev"),
        ("_ZNSt14_Bit_iteratorppEv", "_ZNSt14_Bit_iteratormmEv"),
        tuple(f"_ZSt{operator}IiSaIiEEbRKSt6vectorIT_T0_ES6_" for operator in ("eq", "ne", "lt", "gt", "le", "ge")),
        ("_ZSt4sortIPiEvT_S1_", "_ZSt11stable_sortIPiEvT_S1_", "_ZSt7reverseIPiEvT_S1_"),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZNSt6vectorIiSaIiEE8pop_backEv", "_ZNSt5dequeIiSaIiEE9push_backERKi"),
        ("printf", "scanf", "puts", "_printf"),
    ],
)
def test_different_things_have_different_names(names):
    assert len({library_name(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["printf", "__isoc99_scanf", "stdin", "", "Z", "_", "__cxa_throw", "llvm.memcpy"])
def test_names_of_c_stay_as_they_are(name):
    assert library_name(name) == name


@pytest.mark.parametrize("name", ["_Z", "_Z3", "_Z999999x", "_ZN", "_ZNSt", "_ZNSt3__1", "_ZE", "_ZS", "_ZNSi"])
def test_names_that_are_cut_off_are_no_trouble(name):
    assert isinstance(library_name(name), str)
    assert is_library_function(name) == name.startswith(("_ZNSt", "_ZNSi"))


@pytest.mark.parametrize(
    "name",
    [
        "_ZZNSt3__16vectorIiNS_9allocatorIiEEE12emplace_backIJRKiEEERiDpOT_ENKUlvE0_clEv",
        "_ZZNSt3__115basic_streambufIcNS_11char_traitsIcEEE5sgetcB9nie220108EvENKUlvE_clEv",
        "_ZZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12_M_constructIPKcEEvT_S8_St20forward_iterator_tag"
        "EN6_GuardD2Ev",
    ],
)
def test_what_is_inside_a_function_of_the_library(name):
    assert is_library_function(name)


OSTREAM = "NSt3__113basic_ostreamIcNS_11char_traitsIcEEE"


@pytest.mark.parametrize(
    ("libstdcxx", "libcxx"),
    [
        # cout << const char *, cout << char, cout << endl, endl, setw, fixed, cin >> char, string == const char *
        (
            "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
            "_ZNSt3__1lsB9nie220108INS_11char_traitsIcEEEERNS_13basic_ostreamIcT_EES6_PKc",
        ),
        (
            "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c",
            "_ZNSt3__1lsB9nie220108INS_11char_traitsIcEEEERNS_13basic_ostreamIcT_EES6_c",
        ),
        ("_ZNSolsEPFRSoS_E", f"_Z{OSTREAM}lsB9nie220108EPFRS3_S4_E"),
        (
            "_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_",
            "_ZNSt3__14endlB9nie220108IcNS_11char_traitsIcEEEERNS_13basic_ostreamIT_T0_EES7_",
        ),
        ("_ZSt4setwi", "_ZNSt3__14setwB9nie220108Ei"),
        ("_ZNSolsEPFRSt8ios_baseS0_E", f"_Z{OSTREAM}lsB9nie220108EPFRNS_8ios_baseES5_E"),
        (
            "_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_",
            "_ZNSt3__1rsB9nie220108IcNS_11char_traitsIcEEEERNS_13basic_istreamIT_T0_EES7_RS4_",
        ),
        (
            "_ZSteqIcSt11char_traitsIcESaIcEEbRKNSt7__cxx1112basic_stringIT_T0_T1_EEPKS5_",
            "_ZNSt3__1eqB9nie220108IcNS_11char_traitsIcEENS_9allocatorIcEEEEbRKNS_12basic_stringIT_T0_T1_EEPKS6_",
        ),
        (
            "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEpLEPKc",
            "_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEpLB9nie220108EPKc",
        ),
        ("_ZSt3maxIiERKT_S2_S2_", "_ZNSt3__13maxB9nie220108IiEERKT_S3_S3_"),
        ("_ZSt11max_elementIPiET_S1_S1_", "_ZNSt3__111max_elementB9nie220108IPiEET_S2_S2_"),
        ("_ZSt4sortIPiSt7greaterIiEEvT_S3_T0_", "_ZNSt3__14sortB9nie220108IPiNS_7greaterIiEEEEvT_S4_T0_"),
    ],
)
def test_they_share_names_of_templates_and_manipulators(libstdcxx, libcxx):
    assert library_name(libstdcxx) == library_name(libcxx)


def test_new_and_delete_are_told_apart():
    assert len({library_name(name) for name in ("_Znwm", "_Znam", "_ZdlPv", "_ZdaPv")}) == 4


@pytest.mark.parametrize(
    "name", ["_ZNSolsEi", "_ZNSt3__15rtypeIcE2idE", "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc"]
)
def test_substitutions_are_no_words(name):
    assert not any(word.startswith("_") or not word for word in library_name(name).split(" ")[:-2])
