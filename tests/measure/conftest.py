"""Two devices of PoCL, and a table measured on them; where PoCL is missing these tests are skipped."""

import os
from pathlib import Path

import pytest

os.environ["POCL_DEVICES"] = "basic pthread"  # which PoCL reads when it is first asked

KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(scope="session")
def pocl():
    pytest.importorskip("pyopencl", reason="needs pip install ncc[measure]")
    from ncc.errors import NccError
    from ncc.measure.opencl import choose_devices

    try:
        found = [device for device in choose_devices(None) if device.platform == "Portable Computing Language"]
    except NccError as error:
        pytest.skip(str(error))
    if len(found) < 2:
        pytest.skip(f"needs PoCL's two devices; found {found}")
    return [device.name for device in found]
