/* Bindings to Python, which kernels do not need: what files of kernels say for their host's part is accepted here. */
#pragma once

#include <Python.h>

namespace pybind11 {
struct module_ {
  template <typename... Parts> module_ &def(Parts &&...) { return *this; }
};
typedef module_ module;

struct arg {
  explicit arg(const char *) {}
  template <typename Value> arg &operator=(Value &&) { return *this; }
};
} // namespace pybind11

namespace py = pybind11;

#define PYBIND11_MODULE(name, variable) static void ncc_bindings_of_##name(pybind11::module_ &variable)
