// The module _uopscope for a plain Python: `import tinygrad` (or uopscope) with the folder python/ of the
// build on PYTHONPATH. That folder also has the Python files of the packages.
#include "engine/python/casters.h"
#include "engine/python/module.h"

#include <dlfcn.h>

PYBIND11_MODULE(_uopscope, m) {
  uopscope::initModule(m);
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&PyInit__uopscope), &here) && here.dli_fname) {
    std::string path = here.dli_fname;
    uopscope::setOwnSources(path.substr(0, path.rfind('/') + 1));
  }
}
