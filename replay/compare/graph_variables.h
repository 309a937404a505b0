// Finds the open variables of a node of any stage of the compiler: the loop variables, hardware indices and
// symbolic integers that no node below it closes. A RANGE and the axis of an UNROLL with the same id are one
// variable, so a graph means the same before and after the expander.
//
//   Variables v;
//   v.of(store)      the variables that an address and a value depend on
//   v.closedBy(end)  the variables that END, REDUCE, BUFFERIZE or CONTRACT runs through
//
// One object serves one pool, since it keeps its answers by slot.
#pragma once
#include "engine/uop/uop.h"

#include <deque>
#include <map>

namespace uopscope {

struct Variable {
  uint32_t key = 0;
  UOp node;         ///< RANGE, SPECIAL or DEFINE_VAR; null: an axis of an UNROLL
  int64_t size = 0; ///< size of an axis
  bool operator==(const Variable&) const = default;
};
using VariableList = std::vector<Variable>;

class Variables {
public:
  /// The variables open in `u`, by key.
  const VariableList& of(UOp u);
  /// The variables that `u` itself closes.
  VariableList closedBy(UOp u);
  /// The variables of a source, of which a RANGE is one: not those that its extent, or a loop before it, depends on.
  VariableList namedBy(UOp source);
  uint32_t keyOfRange(UOp range);
  uint32_t keyOfAxis(int64_t id);
  uint32_t keyOfName(const std::string& name);
  size_t count() const { return keys_.size(); }

private:
  const VariableList* compute(UOp u);
  std::map<std::string, uint32_t> keys_;
  std::vector<const VariableList*> known_; ///< by slot
  std::deque<VariableList> lists_;
};

/// The axes of an UNROLL or CONTRACT: id and size.
std::vector<std::pair<int64_t, int64_t>> laneAxes(UOp u);
bool hasKey(const VariableList& list, uint32_t key);
/// Whether a node is a tensor with axes; false where half of its shape consists of loops already.
bool hasAxes(UOp u);

} // namespace uopscope
