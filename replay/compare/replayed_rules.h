// Rules of scripts, replayed without their script. A compilation names the rules that a script added and the places where
// they ran; its story holds every rewrite they made. While a ReplayedRules object lives, rules with these names run in these
// places and give a node the answer that the story has for it. A node that the story does not have is left as it is. No
// code of a file runs.
//
//   ReplayedRules rules(input);   // input.settings: {...,"rules of scripts":[["after initial symbolic","power_of_two:5f0c9a31"]]}
//   lowerKernel(...);             // power_of_two makes the same rewrites as before
#pragma once
#include "engine/rules/user_rules.h"
#include "replay/record/capture.h"

namespace uopscope {

class ReplayedRules {
public:
  explicit ReplayedRules(const Compilation& input);
  ~ReplayedRules();
  ReplayedRules(const ReplayedRules&) = delete;
  ReplayedRules& operator=(const ReplayedRules&) = delete;

private:
  std::vector<std::unique_ptr<UserRules>> afterPasses_;
  std::map<std::string, RendererRules> renderers_; ///< by device
};

} // namespace uopscope
