// Rules of a user at any point of the pipeline: while a UserRules lives, its rules run right after the pass
// it names, in every schedule that is made and every kernel that is lowered.
//
//   UserRules mine("initial symbolic", kernelPassNames(), PatternMatcher({kMyRules}));
//
// Schedules and kernels made before are not used while it lives, nor are those made with it used after. Rules
// of one device's renderer alone are set by setRendererRules.
#pragma once
#include "engine/rewrite/matcher.h"

#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

class UserRules {
public:
  /// Throws Error(Value) that lists the passes there are, where `pass` is none of `known`.
  UserRules(std::string_view pass, std::span<const std::string_view> known, PatternMatcher rules);
  ~UserRules();
  UserRules(const UserRules&) = delete;
  UserRules& operator=(const UserRules&) = delete;

private:
  uint64_t id_;
};

/// A user's rules for the renderer of one kind of device: `pre` runs right before the kernel is finalised,
/// `extra` with the final rewrite. Null: none.
struct RendererRules {
  std::shared_ptr<const PatternMatcher> pre, extra;
};
/// `device` as Target names it: "CPU".
void setRendererRules(const std::string& device, RendererRules rules);
RendererRules rendererRules(const std::string& device);

/// Rules to run after the pass, in order of their registration.
std::vector<std::shared_ptr<const PatternMatcher>> userRulesAfter(std::string_view pass);
/// Names the set of rules that are active: 0 for none, never the same for two different sets.
uint64_t userRulesVersion();

} // namespace uopscope
