// Where two compilations of one input part: the first pass or rewrite whose result differs.
//
//   Divergence d = firstDivergence(Story(before.story), Story(after.story));
//   if (d.found()) print(d.sentence());
//
// Graphs are compared by content, so numbering does not matter. A rule that was only renamed is no
// divergence, but is told of.
#pragma once
#include "replay/compare/story_view.h"

#include <map>
#include <optional>

namespace uopscope {

struct Divergence {
  enum class Kind : uint8_t {
    None,
    InputDiffers,  ///< the inputs were not the same
    PassAdded,     ///< after runs a pass that before does not
    PassRemoved,   ///< the other way round
    BetweenPasses, ///< code between two passes made another graph (optimisations, ordering)
    ResultDiffers, ///< the same rule on the same node gives another result
    OtherRule,     ///< another rule comes first on the same node
    RuleAdded,     ///< after applies a rule where before applies none
    RuleRemoved,   ///< before applied a rule where after applies none
    Reordered,     ///< the same rewrites in another order
    Failed         ///< one of them ends here
  } kind = Kind::None;
  bool found() const { return kind != Kind::None; }

  std::string pass;                      ///< the pass it happens in; of BetweenPasses the one that follows
  size_t passNumber = 0;                 ///< among all passes of the story, from 0
  size_t step = 0;                       ///< steps of that pass before it
  size_t event = 0;                      ///< index in both stories
  std::string beforeRule, afterRule;     ///< rules that applied there, empty for none
  std::string node;                      ///< the node as an expression
  std::string beforeResult, afterResult; ///< what it became, empty for nothing
  std::map<std::string, std::string> renamedRules; ///< old name -> new name, with the same results

  /// The cause without the place: equal for kernels that changed for the same reason.
  std::string cause() const;
  /// Cause, place and both results in one sentence.
  std::string sentence() const;
};

Divergence firstDivergence(const Story& before, const Story& after);

/// Name of a kind: "rule-added".
std::string_view divergenceName(Divergence::Kind kind);

} // namespace uopscope
