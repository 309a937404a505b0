// Reports the work of the compiler and the devices to Python while a script tracks it; uopscope/tracked.py
// uses it.
#pragma once
#include <pybind11/pybind11.h>

namespace uopscope {
void bindTracking(pybind11::module_& m);
}
