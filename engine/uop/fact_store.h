// Storage of facts for one pool: slots that are reused, and one copy of each list of ranges.
#pragma once
#include "engine/uop/facts.h"

#include <deque>
#include <map>

namespace uopscope {

class FactStore {
public:
  /// The facts of a node of this pool, empty ones at first.
  Facts& of(UOp u) {
    if (!u.node()->facts) u.node()->facts = take();
    return *u.node()->facts;
  }
  /// The shared copy of a list of ranges (sorted by id).
  const std::vector<UOp>* shareRanges(const std::vector<UOp>& ranges);
  /// Takes the facts of a node back.
  void release(const Node* node);
  /// Forgets every list of ranges; the caller clears the facts that point to one.
  void forgetRanges() { lists_.clear(); }

private:
  Facts* take();

  std::deque<Facts> slots_;
  std::vector<Facts*> free_;
  std::map<std::vector<uint32_t>, std::vector<UOp>> lists_;
};

} // namespace uopscope
