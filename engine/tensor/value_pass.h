// A transform of a graph of values as a pass that an observer sees. The graph of the pass starts as the list
// of values that the transform visits, in order. Each step replaces one value by its answer.
//
//   ValuePass pass("vmap", "vmap", rules, values);
//   for (size_t k = 0; k < values.size(); ++k) answers[k] = pass.step(k, context);
//
// Invariant: nodes below an answer are not visited again, so the list of answers is the pass's last graph.
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>
#include <vector>

namespace uopscope {

class ValuePass {
public:
  /// `scope` and `pass` are literals.
  ValuePass(const char* scope, const char* pass, const PatternMatcher& rules, std::span<const UOp> values,
            const char* file = __builtin_FILE(), int line = __builtin_LINE());
  ~ValuePass();
  ValuePass(const ValuePass&) = delete;
  ValuePass& operator=(const ValuePass&) = delete;

  /// The rules' answer for the k-th value, which replaces it; null if no rule has one.
  UOp step(size_t k, const PassContext& context);
  /// Leaves the k-th value unchanged.
  void keep(size_t k);

private:
  void gate(UOp u);

  Observer* observer_;
  const PatternMatcher& rules_;
  ObservedScope scope_;
  std::vector<UOp> now_;
  int exceptions_;
};

/// Gives a node that replaces a value the origin of that value, so that the line and operation of the script
/// survive transforms.
void inheritOrigin(UOp made, UOp from, uint32_t firstNewId);

} // namespace uopscope
