"""What the public functions and their commands promise, a row each: the tables behind the contracts."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import ncc
from tests.support.flat import call
from tests.support.tiny import CLASSIFIER, ENCODER, LSTM_ENCODER, SOURCE, Tiny
from tests.support.tiny import EMBEDDING as EMBEDDING_OPTIONS

TESTS = Path(__file__).parents[1]
IR = TESTS / "data" / "ir"
SOURCES = TESTS / "ir" / "frontend" / "sources"
KERNELS = TESTS / "samples" / "two_kernels.cl"

Changes = Mapping[str, tuple[Any, Any]]
Refusals = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """A public function, and the command that says what it answers.

    Strings with an ``@`` in front stand for what `tests/support/tiny.py` has, or for what `MADE` makes of it.

    Attributes:
        verb: Name of the function.
        command: Of the command line, where it is not the verb.
        inputs: Arguments of a call that works; the first is the one that commands read.
        settings: Parameters of a call that works.
        changes: Parameter → two values whose answers differ.
        refuses: Parameter → values that are wrong usage.
        same: Parameter → a value that changes no answer.
        is_slow: Whether the two answers of a change are for the full run.
    """

    verb: str
    command: str = ""
    inputs: tuple[Any, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    changes: Changes = field(default_factory=dict)
    refuses: Refusals = field(default_factory=dict)
    same: Mapping[str, Any] = field(default_factory=dict)
    is_slow: bool = False

    @property
    def words(self) -> list[str]:
        return (self.command or self.verb.replace("_", "-")).split()


OPTIONS = {
    "arguments": "--arg",
    "clangs": "--with-clang",
}
"""Parameter → option, where the option is not the parameter's name."""

NOT_TYPED = {
    *("source", "sources", "inputs", "folder", "corpora", "recipe", "kernels", "programs", "table", "tables"),
    *("options", "progress", "card"),
}
"""Parameters that are arguments of a command, are many options of it, or are for programs alone."""

ANSWERS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "embed": lambda code: {
        **{name: getattr(code, name) for name in ("num_statements", "unknown_rate", "backoff", "dim", "pooling")},
        "vectors": {"module": code.vectors_at("module").tolist()},
    },
    "build_graph": lambda graph: {"num_statements": graph.module.num_statements, "num_edges": graph.num_edges},
    "classify": lambda classes: classes.to_dict(),
}
"""Verb → what its command prints of an answer; of all others ``kernels``, and an object a kernel."""


def api_answer(case: Case, *arguments: Any, **settings: Any) -> dict[str, Any]:
    """What the API says, as a command prints it."""
    result = call(case.verb, *arguments, **settings)
    if case.verb in ANSWERS:
        return ANSWERS[case.verb](result)
    return {"kernels": [one.to_dict() for one in result]}


def option_of(parameter: str) -> str:
    return OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")


def command_line(settings: Mapping[str, Any]) -> list[str]:
    """Parameters as they are typed."""
    words: list[str] = []
    for name, value in settings.items():
        option = option_of(name)
        if isinstance(value, Mapping):
            values = [f"{key}={one}" for key, one in value.items()]
        elif name == "program_args":
            values = [" ".join(value)]
        else:
            values = [",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)]
        words += [word for one in values for word in (option, one)]
    return words


BAD: Mapping[str, tuple[bytes | None, str]] = {
    "missing.ll": (None, ""),
    "empty.ll": (b"", ""),
    "empty.c": (b"\n\n", ""),
    "rubbish.ll": (bytes(range(256)) * 4, ""),
    "rubbish.bc": (bytes(range(255, 0, -1)) * 4, ""),
    "truncated.bc": ((IR / "tree.llvm11.bc").read_bytes()[:1000], "LLVM"),
    "syntax.ll": (b"define i32 @f(i32 %x) {\n  %y = add i32 %x\n  ret i32 %y\n}\n", ":3:"),
    "semantics.ll": (b"define i32 @f() {\n  ret i32 %nowhere\n}\n", "nowhere"),
    "broken.cl": (b"__kernel void f(__global int *a) {\n  a[0] = b;\n}\n", ":2:10:"),
    "broken.cpp": (b"int f( {\n", ":1:"),
    "declared.ll": (b"declare void @f()\n", "function"),
    "variable.c": (b"int x;\n", "function"),
    "line.ll": (b"x" * (1 << 20), ":1:1"),
    "line.c": (b"int " + b"x" * (1 << 20), ""),
    "latin.ll": ("; café\nvoid é\n".encode("latin-1"), ":2:"),
    "latin.c": ("int é(void) { return x; }\n".encode("latin-1"), ":1:"),
    "notes.md": (b"# notes\n", ".md"),
    "noextension": (b"int f(void) { return 1; }\n", "extension"),
}
"""File → its content, and what its message says beside its name: the line and column, above all."""

EMPTY_GRAPHS = ("declared.ll", "variable.c")
"""Bad inputs of which a graph without edges is the answer."""

O0, O2 = (ncc.CompileOptions(optimization=level) for level in "02")
LONG = ncc.CompileOptions(defines=("int=long",))
TEXT = "define i32 @f(i32 %x) {{\n  %a = add i32 %x, 1\n  %b = mul i32 %a, %x\n  ret i32 {}\n}}\n"
CODE, CUDA = IR / "sources" / "tree.c", SOURCES / "vector_add.cu"
TREE, LEGACY = IR / "tree.clang22.ll", IR / "legacy.ll"
WORDS, MATMUL = SOURCES / "words.cpp", TESTS.parent / "datasets" / "samples" / "matmul.cl"


def _more_sources(tiny: Tiny, folder: Path) -> Path:
    """The classes in C with a third one, and another program in one of the two."""
    shutil.copytree(tiny.sources, folder)
    shutil.copytree(tiny.sources / "sums", folder / "more")
    (folder / "sums" / "last.c").write_text(SOURCE.format("*", 9))
    return folder


def _shown(show: Callable[[], Any]) -> Callable[[Tiny, Path], Any]:
    return lambda tiny, folder: show()


def _empty(tiny: Tiny, folder: Path) -> Path:
    folder.mkdir()
    return folder


MADE: Mapping[str, Callable[[Tiny, Path], Any]] = {
    "empty": _empty,
    "file": lambda tiny, path: path.write_text("no folder\n") and path,
    "more_sources": _more_sources,
    "small_corpus": lambda tiny, folder: ncc.build_corpus(tiny.programs / "sums", folder, jobs=1) and folder,
    "more_functions": lambda tiny, path: path.write_text(tiny.functions.read_text().replace("-Os", "-O2")) and path,
    "shipped_classifier": lambda tiny, folder: tiny.train("classifier", folder, embedding=None) and folder,
    "coarsening_head": lambda tiny, folder: TESTS / "data" / "formats" / "coarsening-v3",
    "abstraction": _shown(lambda: replace(ncc.load_embedding().abstraction, keep_callees=False)),
    "module": _shown(lambda: ncc.read_module(TREE)),
    "other_module": _shown(lambda: ncc.read_module(LEGACY)),
    "graph": _shown(lambda: ncc.build_xfg(ncc.load_module(TEXT.format("%a")))),
    "other_graph": _shown(lambda: ncc.build_xfg(ncc.load_module(TEXT.format("%b")))),
    "label": _shown(lambda: ncc.load_module(TEXT.format("%a")).text_id),
    "other_label": _shown(lambda: ncc.load_module(TEXT.format("%a")).text_id[[0, 1, 1, 3]]),
    "embedded": _shown(lambda: ncc.embed(TREE)),
}
"""Name after an ``@`` → what it stands for, made once a run; all other names are those of the small world."""

# what many verbs share, each said once
# fmt: off
NOWHERE = "@folder/nowhere"
LANGUAGE: Changes = {"options": (O0, O2), "language": ("c", "c++")}
EMBEDDING: Refusals = {"embedding": (NOWHERE,)}
NO_LANGUAGE: Refusals = {"language": ("rust",)}
NO_DATA: Refusals = {"data": ("@empty",)}
NO_HEAD: Refusals = {"head": (NOWHERE,)}
JOBS: Refusals = {"jobs": (0, -1)}
POOLED: Changes = {"embedding": (None, "@embedding"), "encoder": (None, "@encoder"), "pooling": (None, "mean")}
NOT_POOLED: Refusals = {**EMBEDDING, "encoder": (NOWHERE,), "pooling": ("sum",)}
LAUNCH = {"grid": (4,), "block": (64,)}
NOT_SIZED: Refusals = {
    "grid": ((0,), "many"), "block": ((2048,),), "arguments": ({"n": float("nan")}, {"nothing": 1}),
    "kernel": ("absent",),
}
KERNEL: Changes = {"source": (KERNELS, MATMUL), "options": (O0, O2)}
DEVICE: Changes = {
    **KERNEL, "wgsize": (64, 256), "transfer": (1e3, 1e8), "platform": ("amd", "nvidia"), "head": (None,
    "@device_head"),
}
NO_DEVICE: Refusals = {
    "transfer": (-1, "many", float("inf"), 1e30), "wgsize": (0, 1.5, 1e6, float("nan")), "platform": ("intel",),
    "head": (NOWHERE, "@embedding"),
    **NO_LANGUAGE, **EMBEDDING,
}
SIZES: Changes = {"global_size": (1024, 65536)}
CARD: Changes = {"card": (None, {"note": "own"})}
LOOP: Refusals = {
    "lr_scaling": ("cube",), "weight_decay": (-1,), "max_grad_norm": (0,), "compression": ("zip",),
    "sync_every": (0,), "checkpoint_every_s": (-1,),
}
"""What all trainings of networks refuse."""
NO_FOLDER: Refusals = {"folder": (NOWHERE,)}
NO_OUTPUT: Refusals = {"output": ("@file",)}
BENCH: Refusals = {
    "kernels": ([NOWHERE],), "device": (("ZX 81",),), "sizes": ("many", (0,)), "wgsize": ((0,),),
}

PER_INPUT = (
    Case(
        "embed", inputs=(CODE,),
        changes={"source": (CODE, TREE), **LANGUAGE, **POOLED},
        refuses={"source": (NOWHERE, 3), **NO_LANGUAGE, **NOT_POOLED},
    ),
    Case(
        "build_graph", "graph", inputs=(CODE,),
        changes={"source": (CODE, TREE), **LANGUAGE}, refuses={"source": (NOWHERE,), **NO_LANGUAGE},
    ),
    Case(
        "predict_device", inputs=(KERNELS,),
        changes={**DEVICE, **SIZES},
        refuses={
            **NO_DEVICE, "source": (CODE, NOWHERE), "global_size": (-1, 0), "gpu": ("ZX 81",), "kernel": ("absent",),
        },
    ),
    Case(
        "predict_gpu", inputs=(CUDA,), settings=LAUNCH,
        changes={
            "source": (CUDA, SOURCES / "matrix.cu"), "grid": ((4,), (8192,)), "block": ((64,), (256,)),
            "arguments": ({"n": 10}, {"n": 1e6}), "gpu": (None, "A100"), "head": (None, "@gpu_head"), "options": (O0,
            O2),
        },
        refuses={**NOT_SIZED, **NO_HEAD, "source": (CODE,), "gpu": ("ZX 81",)},
    ),
    Case(
        "predict_coarsening", inputs=(KERNELS,),
        changes={**KERNEL, "device": (None, "Fermi"), "head": (None, "@coarsening_head")},
        refuses={"source": (CODE,), "device": ("Hopper",), **NO_HEAD, **NO_LANGUAGE, **EMBEDDING},
    ),
    Case(
        "profile", inputs=(KERNELS,), settings=LAUNCH,
        changes={**KERNEL, "grid": ((4,), (8, 2)), "block": ((64,), (32,)), "kernel": ("scale", "fill")},
        refuses={**NOT_SIZED, "source": (CODE,)},
    ),
    Case(
        "classify", inputs=(CODE,),
        changes={
            "source": (CODE, WORDS), "top": (1, 2), "levels": (("0",), ("1",)), "options": (None, LONG),
            "head": (None, "@shipped_classifier"),
        },
        refuses={"top": (0,), "levels": (("7",), ()), **NO_HEAD, **NO_LANGUAGE, **EMBEDDING},
    ),
)
"""Verbs that answer each input by itself."""

OTHERS = (
    Case(
        "embed_many", inputs=([TREE],),
        changes={"sources": ([TREE], [LEGACY, TREE]), **POOLED},
        refuses={**JOBS, **NO_LANGUAGE, **NOT_POOLED, "timeout": (0, -1)}, same={"jobs": 2},
    ),
    Case("embed_many", inputs=([CODE],), changes=LANGUAGE),
    Case(
        "similarity", inputs=(TREE, LEGACY),
        changes={"a": (TREE, LEGACY), "b": (TREE, LEGACY), **POOLED}, refuses={**NO_LANGUAGE, **NOT_POOLED},
    ),
    Case("similarity", inputs=(LEGACY, CODE), changes={"options": (None, LONG)}),
    Case(
        "load_module", inputs=(CODE,),
        changes={"source": (CODE, TREE), **LANGUAGE, "abstraction": (None, "@abstraction")},
        refuses={"source": (NOWHERE,), **NO_LANGUAGE},
    ),
    Case(
        "read_module", inputs=(TREE,),
        changes={"source": (TREE, LEGACY), "name": (None, "own"), "abstraction": (None, "@abstraction")},
        refuses={"source": (NOWHERE,)}, same={"verify": True},
    ),
    Case("build_xfg", inputs=("@module",), changes={"module": ("@module", "@other_module")}),
    Case(
        "count_contexts", inputs=("@graph", "@label"), settings={"width": 1},
        changes={"graph": ("@graph", "@other_graph"), "label": ("@label", "@other_label"), "width": (1, 2),
        "max_degree": (None, 1)},
        refuses={"width": (0,), "max_degree": (-1,)},
    ),
    *(
        Case(f"load_{name}", changes={"folder": (None, f"@{name}"), **changes}, refuses={**NO_FOLDER, **refuses})
        for name, changes, refuses in (
            ("embedding", {}, {"folder": (NOWHERE, "@programs")}),
            ("encoder", {}, {}),
            ("coarsening_head", {}, {}),
            ("device_head", {"platform": ("amd", "nvidia")}, {"platform": ("intel",)}),
            ("gpu_head", {}, {}),
        )
    ),
    Case("load_classifier", changes={"folder": (None, "@classifier")}, refuses=NO_FOLDER),
    Case(
        "load_counts", inputs=("@corpus",), changes={"corpus": ("@corpus", "@small_corpus")},
        refuses={"corpus": (NOWHERE,), "context_width": (3, 0)},
    ),
    Case("load_index", inputs=("@index",), refuses=NO_FOLDER),
    Case(
        "index", inputs=("@programs", "@out"), settings={"pooling": "mean"},
        changes={
            "inputs": ("@programs", "@programs/sums"), "pooling": ("mean", None), "embedding": (None, "@embedding"),
        },
        refuses={**NO_OUTPUT, **JOBS, **NOT_POOLED, "inputs": (NOWHERE,)},
        same={"progress": "@progress"},
    ),
    Case("index", inputs=("@folder/functions", "@out"), settings={"pooling": "mean"}, changes={"options": (O0, O2)}),
    Case(
        "build_corpus", "corpus build", inputs=("@folder/functions", "@out"), settings={"jobs": 1},
        changes={"recipe": ("@folder/functions", "@programs"), "options": (None, LONG)},
        refuses={**NO_OUTPUT, **JOBS, "recipe": (NOWHERE,)},
        same={"ir": "@out_too", "progress": "@progress"},
    ),
    Case(
        "save_vectors", inputs=(["@embedded"], "module", "@out.csv"),
        changes={"modules": (["@embedded"], ["@embedded", "@embedded"]), "level": ("module", "statement")},
        refuses={"modules": ([],), "level": ("word",), "path": ("@out.txt", "@file/a.csv")},
    ),
    Case(
        "load_program_graphs", inputs=("@programs",),
        changes={
            "folder": ("@programs", "@more_sources"), "embedding": (None, "@embedding"), "hetero": (False, True),
        },
        refuses={**NO_FOLDER, **EMBEDDING, **JOBS}, same={"jobs": 2},
    ),
    Case("load_program_graphs", inputs=("@sources",), changes={"options": (O0, O2)}),
    Case("require_confinement"),
    Case("list_devices"),
)

TRAINERS = (
    Case(
        "train_embedding", "train embedding", inputs=(["@corpus"],), settings=EMBEDDING_OPTIONS,
        changes={
            "corpora": (["@corpus"], ["@small_corpus"]), "min_count": (3, 20), "dim": (8, 6), "epochs": (2, 1),
            "steps_per_epoch": (2, 1),
            "learning_rate": (0.01, 0.02), "subsample": (0.0, 1e-4), "subwords": (True, False), "word_decay": (0, 9),
            "seed": (1, 2), **CARD,
        },
        refuses={
            **NO_OUTPUT, "corpora": ([NOWHERE], []), "context_width": (3, 0), "min_count": (0,), "engine": ("magic",),
            "dim": (0,),
            "epochs": (0,), "steps_per_epoch": (0,), "learning_rate": (-1,), "subsample": (-1,), "word_decay": (-1,),
            "threads": (0,),
            "device": ("tpu",), "extend": (NOWHERE,),
        },
        same={"num_pairs": 5, "progress": "@progress"}, is_slow=True,
    ),
    Case(
        "train_encoder", "train encoder", inputs=("@out",),
        settings={"programs": "@more_sources", "functions": "@functions", "cache": "@cache", **ENCODER},
        changes={
            "programs": ("@more_sources", "@sources"), "classes": ("bits,sums", "bits,more"), "per_class": (None, 3),
            "functions": ("@functions", "@more_functions"), "dim": (8, 4), "min_df": (2, 1),
            "levels": (("1",), ("0", "1")), **CARD,
        },
        refuses={
            **NO_OUTPUT, **JOBS, "programs": (NOWHERE,), "classes": ("none",), "per_class": (0,),
            "functions": (NOWHERE,), "functions_from": (NOWHERE,), "clangs": (("no-such-clang",),),
            "model": ("tree",), "dim": (0,), "min_df": (0,), "levels": (("7",),), **LOOP,
            "strategy": ("alone", "local"),
        },
        same={"jobs": 2, "cache": "@out_too", "progress": "@progress"}, is_slow=True,
    ),
    Case(
        "train_encoder", "train encoder", inputs=("@out",),
        settings={
            "programs": "@sources", "functions": "@functions", "embedding": "@embedding", "cache": "@cache",
            **LSTM_ENCODER,
        },
        changes={
            "epochs": (2, 1), "steps_per_epoch": (2, 1), "batch_size": (4, 8), "hidden": (4, 2), "max_length": (256, 2),
            "learning_rate": (0.002, 0.01), "function_fraction": (0.5, 0.75), "seed": (1, 2),
            "embedding": ("@embedding", None),
        },
        refuses={
            **EMBEDDING, "epochs": (0,), "steps_per_epoch": (0,), "batch_size": (1,), "hidden": (0,),
            "max_length": (0,), "learning_rate": (-1, 0), "function_fraction": (2,), "device": ("tpu",),
        },
        same={"global_batch": True},
        is_slow=True,
    ),
    Case("train_encoder", "train encoder", inputs=("@out",), settings={"functions": "@functions"}, refuses=NO_DATA),
    Case(
        "train_devmap", "train devmap", settings={"tables": ("@times",), "model": "gp"},
        changes={"model": ("gp", "trees"), **CARD},
        refuses={**NO_OUTPUT, **EMBEDDING, "tables": ((NOWHERE,),), "model": ("oracle",)},
        same={"output": "@out", "progress": "@progress", "data": "@empty"}, is_slow=True,
    ),
    Case("train_devmap", "train devmap", refuses={**NO_DATA, "platform": ("intel",)}),
    Case("train_coarsening", "train coarsening", refuses={**NO_OUTPUT, **NO_DATA, "model": ("oracle",)}),
    Case(
        "train_gpu", "train gpu", settings={"table": "@launches", "gpu": "A100"},
        changes={"gpu": ("A100", "RTX 3080"), "options": (None, O2), **CARD},
        refuses={**NO_OUTPUT, "table": (NOWHERE, "@times"), "sources": ("@empty",), "gpu": ("ZX 81",)},
        same={"output": "@out", "progress": "@progress"}, is_slow=True,
    ),
    Case("train_gpu", "train gpu", refuses=NO_DATA),
    Case(
        "train_classifier", "train classify", inputs=("@programs", "@out"),
        settings={**CLASSIFIER, "embedding": "@embedding", "cache": "@cache"},
        changes={
            "epochs": (2, 1), "hidden": (4, 6), "layers": (1, 2), "min_steps": (4, 9), "batch_size": (8, 16),
            "batch_by": ("samples", "tokens"), "learning_rate": (0.002, 0.1), "lr_scaling": ("sqrt", "none"),
            "compression": ("none", "bf16"),
            "embedding": ("@embedding", None), "refit": (None, "@classifier"), "global_batch": (False, True),
            "seed": (204, 2), **CARD,
        },
        refuses={
            **EMBEDDING, **JOBS, "folder": (NOWHERE, "@empty"), "output": ("@file",), "levels": (("7",),),
            "refit": (NOWHERE,), "epochs": (0,), "hidden": (0,), "layers": (0,), "min_steps": (0,), "batch_size": (0,),
            "batch_by": ("lines",), "learning_rate": (-1,), "strategy": ("alone",), **LOOP,
            "device": ("tpu",),
        },
        same={
            "jobs": 2, "cache": "@out_too", "progress": "@progress",
            "options": O2,
        },
        is_slow=True,
    ),
    Case("train_classifier", "train classify", inputs=(None, "@out"), refuses=NO_DATA),
    Case(
        "measure_kernels", "measure", inputs=(["@kernels"], "@out.parquet"),
        refuses={**BENCH, "timeout": (0,), "measurement_time": (0,), "output": ("@file/a.parquet",)},
    ),
    Case("calibrate", inputs=("@out",), refuses={**BENCH, "budget": (0,), **NO_OUTPUT}),
)
# fmt: on

CASES = (*PER_INPUT, *OTHERS, *TRAINERS)


def training_command(tiny: Tiny, name: str) -> list[object]:
    """The command that trains a model of the small world, but for the folder."""
    verb, settings = tiny.training_of(name)
    words = next(case.words for case in CASES if case.verb == verb)
    typed = {name: value for name, value in settings.items() if name not in NOT_TYPED}
    given = [value for name, value in settings.items() if name in NOT_TYPED]
    inputs = [one for value in given for one in (value if isinstance(value, list) else [value])]
    return [*words, *inputs, *command_line(typed)]
