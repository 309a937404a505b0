// One pass in order of the program. Values that lie on a chain carry its length so far.
#include "engine/codegen/program_walk.h"

#include "engine/codegen/dot_products.h"
#include "engine/codegen/estimates.h"
#include "engine/codegen/tile_cores.h"

#include <algorithm>
#include <cmath>

namespace uopscope {

ProgramWalk::ProgramWalk(std::span<const UOp> program, const MachineRates& rates, double share)
    : rates_(rates), work_(program, rates.registerLanes), traffic_(share), blocks_(1) {
  for (UOp u : program) visit(u);
  traffic_.finish();
  std::ranges::sort(globals_, {}, [](UOp g) { return g.arg().i(); });
}

void ProgramWalk::visit(UOp u) {
  if (u.is(Op::SPECIAL) || (u.is(Op::WMMA) && !isDotProduct(u) && !isTileProduct(u))) understood_ = false;
  if (const int64_t threads = threadsBy(u)) threads_ = static_cast<int>(threads);
  if (u.is(Op::DEFINE_GLOBAL) && u.arg().kind() == ArgKind::Int) globals_.push_back(u);
  traffic_.follow(u);
  if (u.is(Op::RANGE)) {
    ranges_.push_back(u);
    blocks_[static_cast<size_t>(traffic_.parent(traffic_.current()))].innermost = false;
    blocks_.emplace_back();
    started_.emplace_back();
  }
  if (u.is(Op::END)) {
    for (size_t i = 1; i < u.srcCount() && !ranges_.empty(); ++i) {
      ranges_.pop_back();
      started_.pop_back();
    }
    return;
  }
  const auto block = static_cast<size_t>(traffic_.current());
  blocks_[block].work += work_.of(u);
  ++blocks_[block].count;
  follow(u, block);
}

/// Chains of operations: a turn of a loop reads what the turn before it stored at an address that does not depend on the
/// loop. The length grows from that load to the store.
void ProgramWalk::follow(UOp u, size_t block) {
  straight(u, block);
  if (ranges_.empty()) return;
  auto& started = started_.back();
  if (u.is(Op::LOAD)) {
    const UOp index = accessIndex(u);
    if (!index.is(Op::INDEX) || index.src(1).dependsOn(ranges_.back())) return;
    const std::pair key{index.bufferOf(), index.src(1)};
    const auto before = started.stored.find(key);
    if (before != started.stored.end()) {
      if (before->second >= 0) depth_[u] = {block, before->second};
    } else {
      depth_[u] = {block, work_.inRegisters(u) ? 0 : rates_.forwarding};
      started.loaded.insert(key);
    }
    return;
  }
  double longest = -1;
  for (UOp s : u.src())
    if (const auto d = depth_.find(s); d != depth_.end() && d->second.first == block)
      longest = std::max(longest, d->second.second);
  if (u.is(Op::STORE)) {
    const UOp index = accessIndex(u);
    if (!index.is(Op::INDEX)) return;
    const std::pair key{index.bufferOf(), index.src(1)};
    started.stored[key] = longest;
    if (longest >= 0 && started.loaded.contains(key)) {
      double& chain = blocks_[block].chain;
      chain = std::max(chain, longest);
    }
    return;
  }
  if (longest >= 0) depth_[u] = {block, longest + InstructionWork::latency(u) * rates_.latency};
}

/// A turn takes as long as what waits for each other in it, unless the processor looks ahead to the next one.
void ProgramWalk::straight(UOp u, size_t block) {
  double longest = 0;
  for (UOp s : u.src())
    if (const auto d = ready_.find(s); d != ready_.end() && d->second.first == block)
      longest = std::max(longest, d->second.second);
  const double cycles = longest + (u.is(Op::LOAD) && !work_.inRegisters(u) ? rates_.forwarding / 2 : 0) +
                        InstructionWork::latency(u) * rates_.latency;
  ready_[u] = {block, cycles};
  blocks_[block].path = std::max(blocks_[block].path, cycles);
}

} // namespace uopscope
