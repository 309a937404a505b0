// Rules that a user inserts into the pipeline. While a UserRules object lives, its rules run right after the
// pass it names, in every new schedule and every newly lowered kernel.
//
//   UserRules mine("initial symbolic", kernelPassNames(), PatternMatcher({kMyRules}));
//
// While it lives, schedules and kernels made earlier are not reused; those made with it are not used after
// it. Rules for the renderer of one device are set by setRendererRules.
#pragma once
#include "engine/rewrite/matcher.h"

#include <string>
#include <string_view>
#include <vector>

namespace uopscope {

class UserRules {
public:
  /// Throws Error(Value), listing the existing passes, if `pass` is not in `known`.
  UserRules(std::string_view pass, std::span<const std::string_view> known, PatternMatcher rules);
  ~UserRules();
  UserRules(const UserRules&) = delete;
  UserRules& operator=(const UserRules&) = delete;

private:
  uint64_t id_;
};

/// A user's rules for the renderer of one kind of device. `pre` runs right before the kernel is finalised,
/// `extra` in the final rewrite. Null: none.
struct RendererRules {
  std::shared_ptr<const PatternMatcher> pre, extra;
};
/// `device` is spelled as in Target: "CPU".
void setRendererRules(const std::string& device, RendererRules rules);
RendererRules rendererRules(const std::string& device);

/// The rules to run after this pass, in order of registration.
std::vector<std::shared_ptr<const PatternMatcher>> userRulesAfter(std::string_view pass);
/// All rules that users added, and the place where they run: "after initial symbolic", "pre_matcher of CPU",
/// "extra_matcher of CPU".
struct UserRuleList {
  std::string where;
  std::shared_ptr<const PatternMatcher> rules;
};
std::vector<UserRuleList> userRules();
/// A number for the active set of rules: 0 for no rules, and different for any two different sets.
uint64_t userRulesVersion();

} // namespace uopscope
