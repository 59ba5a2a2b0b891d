"""Two devices of PoCL, and a table measured on them; where PoCL is missing these tests are skipped."""

import os
from pathlib import Path

import pytest

os.environ["POCL_DEVICES"] = "basic pthread"  # which PoCL reads when it is first asked

KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(scope="session")
def pocl():
    pytest.importorskip("pyopencl", reason="needs the extra measure")
    import pyopencl as cl

    from ncc.errors import NccError
    from tests.rooms import choose_devices

    reason = "needs PoCL's two devices"
    with pytest.MonkeyPatch.context() as patch:
        for platform in [one for one in cl.get_platforms() if one.name == "Portable Computing Language"]:
            patch.setattr(cl, "get_platforms", lambda one=platform: [one])  # there may be Debian's beside PyPI's
            try:
                found = choose_devices(None)
            except NccError as error:
                reason = str(error)
                continue
            if len(found) == 2:
                yield [device.name for device in found]
                return
    pytest.skip(reason)


_DRIVER = """
import os, sys
sys.path.remove(os.path.dirname(__file__))
del sys.modules["pyopencl"]
import pyopencl as cl
build, platforms, condition = cl.Program.build, cl.get_platforms, lambda program: {condition}

def fail(program, *args):
    if condition(program):
        raise cl.Error("clBuildProgram failed\\nerror: unknown target CPU 'generic'")
    return build(program, *args)

def abort(program, *args):
    return os.abort() if condition(program) else build(program, *args)

class Twice:
    name = "Portable Computing Language"

    def get_devices(self):
        return 2 * [one for one in platforms() if one.name == self.name][0].get_devices()[:1]

if "{what}" == "twice":
    cl.get_platforms = lambda: [Twice()]
else:
    cl.Program.build = {what}
"""


@pytest.fixture
def driver(monkeypatch, tmp_path_factory):
    """Replaces what workers import as pyopencl, from the same folders, by one that fails, aborts or repeats."""

    def replace(what, condition="True"):
        folder = tmp_path_factory.mktemp("driver")
        (folder / "pyopencl.py").write_text(_DRIVER.format(what=what, condition=condition))
        monkeypatch.syspath_prepend(folder)

    return replace
