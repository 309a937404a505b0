// Hands Python what the compiler and the devices do while a script tracks it: see uopscope/tracked.py.
#pragma once
#include <pybind11/pybind11.h>

namespace uopscope {
void bindTracking(pybind11::module_& m);
}
