// The module _uopscope: the classes and functions of C++ for Python. The packages `tinygrad` and `uopscope`
// are written in Python on top of it and embedded as text.
#include "engine/python/module.h"

#include "engine/python/bind_prove.h"
#include "engine/python/bind_recording.h"
#include "engine/python/bind_tracking.h"
#include "engine/python/bind_transform.h"
#include "engine/python/bindings.h"
#include "engine/python/call_errors.h"
#include "engine/python/docstrings.h"
#include "engine/python/script_calls.h"
#include "engine/tensor/call_namer.h"
#include "engine_python_embedded.h"

namespace uopscope {

void initModule(py::module_& m) {
  m.doc() = "The engine of uopscope.";
  setScriptLocator(&pythonLocation);
  setCallNamer(&pythonCalls);
  bindErrors(m);
  bindEnums(m);
  bindInvalid(m);
  bindDTypes(m);
  bindBuffers(m);
  bindRuntime(m);
  bindOpts(m);
  bindKernels(m);
  bindUOps(m);
  bindRules(m);
  bindRuleSets(m);
  bindProve(m);
  bindTensors(m);
  bindTransforms(m);
  bindFiles(m);
  bindJit(m);
  bindPickling(m);
  bindTracking(m);
  bindRecording(m);
  addDocstrings(m);
  nameCallsInErrors(m);
  py::dict sources;
  for (const auto& [path, text] : engine_pythonEmbedded()) sources[py::str(path)] = text;
  m.attr("sources") = sources;
  m.def("is_own_source", [](const std::string& file) { return isOwnSource(file); });
}

} // namespace uopscope
