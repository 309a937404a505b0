// The module _uopscope for a Python that is not ours: `import tinygrad` (or uopscope) with the folder python/
// of the build on PYTHONPATH. The Python files of the packages stand beside it.
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
