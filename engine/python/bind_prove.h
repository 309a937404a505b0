// `uopscope prove --rules FILE.py` from Python: prove_rules(matchers, rule, milliseconds, json).
#pragma once
#include <pybind11/pybind11.h>

namespace uopscope {

void bindProve(pybind11::module_& m);

} // namespace uopscope
