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
