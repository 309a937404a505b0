// What a node of any stage of the compiler depends on: the loop variables, hardware indices and symbolic
// integers that nobody below it has closed. A RANGE and the axis of an UNROLL with the same id are one
// variable, so a graph means the same before and after the expander.
//
//   Variables v;
//   v.of(store)      the variables that an address and a value are functions of
//   v.closedBy(end)  those that END, REDUCE, BUFFERIZE or CONTRACT runs through
//
// One object serves one pool: answers are kept by slot.
#pragma once
#include "engine/uop/uop.h"

#include <deque>
#include <map>

namespace uopscope {

struct Variable {
  uint32_t key = 0;
  UOp node;         ///< RANGE, SPECIAL or DEFINE_VAR; null: an axis of an UNROLL
  int64_t size = 0; ///< of an axis
  bool operator==(const Variable&) const = default;
};
using VariableList = std::vector<Variable>;

class Variables {
public:
  /// Open in `u`, by key.
  const VariableList& of(UOp u);
  /// Those that `u` itself closes.
  VariableList closedBy(UOp u);
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

/// Axes of an UNROLL or CONTRACT: id and size.
std::vector<std::pair<int64_t, int64_t>> laneAxes(UOp u);
bool hasKey(const VariableList& list, uint32_t key);

} // namespace uopscope
