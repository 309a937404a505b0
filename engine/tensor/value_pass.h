// A transform of a graph of values as a pass that an observer sees: the pass begins with the values that the
// transform goes through, in the order it takes them, and each step puts an answer in the place of one value.
//
//   ValuePass pass("vmap", "vmap", rules, values);
//   for (size_t k = 0; k < values.size(); ++k) answers[k] = pass.step(k, context);
//
// Invariant: nodes below an answer are not walked again, so the answers are the pass's last graph.
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

  /// The rules' answer for the k-th value, put in its place; null if no rule has one.
  UOp step(size_t k, const PassContext& context);
  /// The k-th value stays as it is.
  void keep(size_t k);

private:
  void gate(UOp u);

  Observer* observer_;
  const PatternMatcher& rules_;
  ObservedScope scope_;
  std::vector<UOp> now_;
  int exceptions_;
};

/// Reports a node that takes the place of a value as made where that value was: the line and the operation of
/// the script that a value comes from outlive its transforms.
void inheritOrigin(UOp made, UOp from, uint32_t firstNewId);

} // namespace uopscope
