"""The installation: ``ncc info`` and ``ncc data``."""

import platform as host

from ncc.verbs.types import Answer, Rows, command


@command(has_json=True, compiles=False)
def info_command() -> Answer:
    """Show versions, the compiler, devices and shipped models. --json adds the model cards."""
    import llvmlite.binding as llvm

    import ncc
    from ncc.ir.frontend.clang import find_compiler
    from ncc.ir.frontend.languages import SOURCE_EXTENSIONS
    from ncc.ir.reader.objects import IR_EXTENSIONS
    from ncc.learning.data import registry
    from ncc.system.sandbox.confine import describe_confinement
    from ncc.tasks.devices.prediction import MACHINES

    try:
        devices = ", ".join(device.name for device in ncc.list_devices())
    except ncc.NccError as error:
        devices = f"none: {error}".partition(";")[0]
    embedding, encoder = ncc.load_embedding(), ncc.load_encoder()
    coarsening, classifier = ncc.load_coarsening_head(), ncc.load_classifier()
    facts = {
        "version": ncc.__version__,
        "python": host.python_version(),
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "compiler": " ".join(find_compiler(None).argv),
        "confinement": describe_confinement(),
        "reads": sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS),
        "embedding": {"id": embedding.fingerprint, "dim": embedding.dim} | embedding.card,
        "encoder": {"id": encoder.fingerprint, "dim": encoder.dim} | encoder.card,
        "device_heads": {name: ncc.load_device_head(platform=name).card for name in MACHINES},
        "coarsening_head": coarsening.card,
        "classifier": classifier.card,
        "data_folder": str(registry.data_folder()),
    }
    gpus = ", ".join(f"{machine['GPU']} ({name})" for name, machine in MACHINES.items())
    rows = [
        ("ncc", f"{facts['version']}, Python {facts['python']}, LLVM {facts['llvm']}"),
        ("compiler", facts["compiler"]),
        ("confinement", facts["confinement"]),
        ("reads", " ".join(facts["reads"])),
        ("devices here", devices),
        ("embedding", f"{len(embedding.vocabulary):,} statements, {embedding.dim}-d"),
        ("encoder", f"{encoder.dim}-d"),
        ("predict-device", f"Intel Core i7-3820 beside {gpus}"),
        ("predict-coarsening", ", ".join(coarsening.devices)),
        ("predict-gpu", f"{ncc.load_gpu_head().gpu}; extrapolated to other GPUs"),
        ("classify", f"{len(classifier.classes)} programming problems"),
        ("data", facts["data_folder"]),
    ]
    return Answer(text=Rows(rows), json=facts)


@command(compiles=False)
def data_list_command() -> Answer:
    """List the datasets and whether you have them."""
    from ncc.learning.data import registry

    rows = []
    for name, card in registry.load_cards().items():
        is_here = all(state.is_usable for state in registry.verify(name).values())
        rows.append((name, "here" if is_here else "missing", card.title))
    return Answer(text=Rows(rows, ("name", "state", "title")))


@command(compiles=False)
def data_fetch_command(name: str, *, data: str | None = None) -> Answer:
    """Print the paths of a dataset's files, or where to get them."""
    from ncc.learning.data import registry

    return Answer(text="\n".join(map(str, registry.fetch(name, data))))


@command(compiles=False)
def data_verify_command(name: str, *, data: str | None = None) -> Answer:
    """Check a dataset's files against their checksums."""
    from ncc.learning.data import registry

    states = registry.verify(name, data)
    rows = [(state.value, str(path)) for path, state in states.items()]
    return Answer(text=Rows(rows, ("state", "file")), is_failed=not all(state.is_usable for state in states.values()))
