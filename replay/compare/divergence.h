// Finds the place where two compilations of one input part: the first pass or rewrite whose result differs.
//
//   Divergence d = firstDivergence(Story(before.story), Story(after.story));
//   if (d.found()) print(d.sentence());
//
// Graphs are compared by content, so numbering does not matter. A merely renamed rule is no divergence, but
// it is reported.
#pragma once
#include "replay/compare/story_view.h"

#include <map>
#include <optional>

namespace uopscope {

struct Divergence {
  enum class Kind : uint8_t {
    None,
    InputDiffers,  ///< the inputs are different
    PassAdded,     ///< after runs a pass that before does not run
    PassRemoved,   ///< before runs a pass that after does not run
    BetweenPasses, ///< code between two passes made a different graph (optimisations, ordering)
    ResultDiffers, ///< the same rule on the same node gives a different result
    OtherRule,     ///< a different rule comes first on the same node
    RuleAdded,     ///< after applies a rule where before applies none
    RuleRemoved,   ///< before applied a rule where after applies none
    Reordered,     ///< the same rewrites in a different order
    Failed         ///< one compilation ends here
  } kind = Kind::None;
  bool found() const { return kind != Kind::None; }

  std::string pass;                      ///< pass of the divergence; of BetweenPasses: the pass that follows
  size_t passNumber = 0;                 ///< among all passes of the story, from 0
  size_t step = 0;                       ///< steps of that pass before the divergence
  size_t event = 0;                      ///< index in both stories
  std::string beforeRule, afterRule;     ///< rules that applied there, empty for none
  std::string node;                      ///< the rewritten node as an expression
  std::string beforeResult, afterResult; ///< results of the rewrites, empty for none
  std::map<std::string, std::string> renamedRules; ///< old name -> new name, with the same results

  /// The cause without the place; it is equal for kernels that changed for the same reason.
  std::string cause() const;
  /// The cause, the place and both results in one sentence.
  std::string sentence() const;
};

Divergence firstDivergence(const Story& before, const Story& after);

/// The name of a kind, such as "rule-added".
std::string_view divergenceName(Divergence::Kind kind);

} // namespace uopscope
