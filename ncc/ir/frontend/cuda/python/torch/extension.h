/* PyTorch for extensions, without the bindings to Python, whose own headers may not be there. */
#pragma once

#include <torch/types.h>

#include <pybind11/pybind11.h>
