// Marks what a schedule reads before it is assigned, then looks for live tensors outside that build on it.
// See overtaken.h.
#include "engine/tensor/overtaken.h"

#include "engine/base/id_map.h"
#include "engine/schedule/passes.h"
#include "engine/tensor/graph.h"
#include "engine/tensor/state.h"

#include <algorithm>

namespace uopscope {

namespace {

enum class Reads : uint8_t { Nothing, OldMemory, OldValue };

constexpr OpSet kNames = group::kMovement | OpSet{Op::DETACH, Op::CONTIGUOUS_BACKWARD};

class Overtaken {
public:
  explicit Overtaken(const std::vector<UOp>& scheduled) {
    std::vector<UOp> order = UOp::sink(scheduled).toposort();
    IdMap<bool> assigned;
    for (UOp u : order)
      if (u.is(Op::ASSIGN))
        if (UOp buffer = sched::assignedBuffer(u.src(0))) assigned.set(buffer.slot(), true);
    for (UOp u : order) {
      Reads reads = Reads::Nothing;
      if (u.is(Op::BUFFER)) {
        if (assigned.contains(u.slot())) reads = Reads::OldMemory;
      } else if (!u.is(Op::ASSIGN)) { // whoever reads an assignment reads the buffer afterwards
        for (UOp s : u.src()) reads = std::max(reads, *reads_.find(s.slot()));
        if (reads == Reads::OldMemory && !u.in(kNames)) reads = Reads::OldValue;
      }
      reads_.set(u.slot(), reads);
      scheduled_.set(u.slot(), true);
    }
  }

  /// Whether a node outside of the schedule builds on a value computed in it from old contents.
  bool has(UOp root) {
    if (scheduled_.contains(root.slot())) return false;
    stack_.assign(1, {root, false});
    while (!stack_.empty()) {
      auto [u, ready] = stack_.back();
      stack_.pop_back();
      if (reads_.contains(u.slot())) continue;
      if (!ready) {
        stack_.push_back({u, true});
        for (UOp s : u.src())
          if (!reads_.contains(s.slot())) stack_.push_back({s, false});
        continue;
      }
      Reads reads = Reads::Nothing;
      for (UOp s : u.src())
        if (*reads_.find(s.slot()) == Reads::OldValue) reads = Reads::OldValue;
      reads_.set(u.slot(), reads);
    }
    return *reads_.find(root.slot()) == Reads::OldValue;
  }

private:
  IdMap<Reads> reads_;
  IdMap<bool> scheduled_;
  std::vector<std::pair<UOp, bool>> stack_;
};

} // namespace

std::vector<Tensor> overtakenBy(const std::vector<UOp>& scheduled) {
  bool assigns =
      std::any_of(scheduled.begin(), scheduled.end(), [](UOp u) { return u.below().contains(Op::ASSIGN); });
  if (!assigns) return {};
  PoolScope scope(tensorPool());
  Overtaken overtaken(scheduled);
  std::vector<std::shared_ptr<Tensor::State>> found;
  forEachTensor([&](Tensor::State& s) {
    UOp u = s.uop;
    if (graph::isRealized(u) || graph::base(u).is(Op::ASSIGN) || !overtaken.has(u)) return;
    bool isFixed = u.hasShape() &&
                   std::all_of(u.shape().begin(), u.shape().end(), [](const Sint& n) { return n.isInt(); });
    if (isFixed) found.push_back(s.shared_from_this());
  });
  std::vector<Tensor> out;
  for (auto& state : found) out.emplace_back(std::move(state));
  return out;
}

} // namespace uopscope
