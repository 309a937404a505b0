// Recordings that Python begins and ends; uopscope/recording.py uses them.
#pragma once
#include <pybind11/pybind11.h>

namespace uopscope {
void bindRecording(pybind11::module_& m);
}
