"""NumPy arrays by what they hold; shapes are said where one is taken or given."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Bools = NDArray[np.bool_]
