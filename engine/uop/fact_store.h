// Storage of facts for one pool: slots that are reused, and one copy of each list of ranges.
#pragma once
#include "engine/uop/facts.h"

#include <map>
#include <memory>

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

  static constexpr size_t kBlock = 64;
  std::vector<std::unique_ptr<Facts[]>> blocks_; ///< the last one is given out up to used_
  size_t used_ = kBlock;
  std::vector<Facts*> free_;
  std::map<std::vector<uint32_t>, std::vector<UOp>> lists_;
};

} // namespace uopscope
