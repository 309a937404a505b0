#include "replay/teach/kernel_target.h"

#include "engine/base/error.h"
#include "engine/render/renderer.h"
#include "engine/runtime/device.h"

namespace uopscope {

std::string deviceOf(Trace& trace, ScopeId kernel) {
  for (const LaunchInfo& l : trace.launches())
    if (l.compiled == kernel && !l.device.empty()) return l.device;
  return "CPU";
}

KernelTarget::KernelTarget(Trace& trace, ScopeId kernel) {
  try {
    target_ = &Device::get(deviceOf(trace, kernel)).renderer().target();
    context_.emplace(TargetContext{*target_});
  } catch (const Error&) { // a device that this machine lacks
  }
}

} // namespace uopscope
