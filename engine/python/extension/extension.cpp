// The module _uopscope for a Python that is not ours: `import tinygrad` (or uopscope) with the folder python/
// of the build on PYTHONPATH.
#include "engine/python/module.h"

#include <pybind11/pybind11.h>

PYBIND11_MODULE(_uopscope, m) {
  uopscope::initModule(m);
}
