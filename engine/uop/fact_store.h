// Storage of facts for one pool. Slots are reused when nodes die, and equal lists of ranges are stored once.
//
//   pool.facts().of(u).vmin        // a fact of a node of the pool
#pragma once
#include "engine/uop/facts.h"

#include <map>
#include <memory>

namespace uopscope {

class FactStore {
public:
  /// The facts of a node of this pool; they start empty.
  Facts& of(UOp u) {
    if (!u.node()->facts) u.node()->facts = take();
    return *u.node()->facts;
  }
  /// The shared copy of a list of ranges, which must be sorted by id.
  const std::vector<UOp>* shareRanges(const std::vector<UOp>& ranges);
  /// Releases the facts of a node that dies.
  void release(const Node* node);
  /// Drops every shared list of ranges. The caller clears the facts that point to one.
  void forgetRanges() { lists_.clear(); }

private:
  Facts* take();

  static constexpr size_t kBlock = 64;
  std::vector<std::unique_ptr<Facts[]>> blocks_; ///< the last block is filled up to used_
  size_t used_ = kBlock;
  std::vector<Facts*> free_;
  std::map<std::vector<uint32_t>, std::vector<UOp>> lists_;
};

} // namespace uopscope
