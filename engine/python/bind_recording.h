// Recordings that Python begins and ends: see uopscope/recording.py.
#pragma once
#include <pybind11/pybind11.h>

namespace uopscope {
void bindRecording(pybind11::module_& m);
}
