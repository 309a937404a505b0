// The target that a kernel of a trace was compiled for: what rules ask about registers, vectors and operations.
//
//   KernelTarget target(trace, kernel);
//   PatternMatcher().explain(rule, node, target.context());    // "the device does all lanes at once"
#pragma once
#include "engine/codegen/memory.h"
#include "replay/read/trace.h"

#include <optional>

namespace uopscope {

/// The device that a kernel ran on; "CPU" where no launch says it.
std::string deviceOf(Trace& trace, ScopeId kernel);

class KernelTarget {
public:
  KernelTarget(Trace& trace, ScopeId kernel);
  /// Null where this machine lacks the device.
  const Target* target() const { return target_; }
  /// The context of passes that ask the target; none where there is no target.
  PassContext context() { return context_ ? PassContext(*context_) : PassContext(); }

private:
  const Target* target_ = nullptr;
  std::optional<TargetContext> context_;
};

} // namespace uopscope
