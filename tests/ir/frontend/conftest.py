"""Sources that compile, and some that must not."""

from tests.fixtures.classification import headers  # noqa: F401
from tests.fixtures.frontend import _bundled_clang, sources  # noqa: F401
