/* See pybind11.h. */
#pragma once

#include "pybind11.h"
