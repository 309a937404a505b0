// The pass "recompute from stored": of the values that one kernel stores for others, those lose their memory that the others can
// compute from the rest.
//
//   x = a @ w;  m = x < 0;  s = sigmoid(x);  y = x * s        stored for the gradient: x, m, s, y
//   x, s, y are stored                                        and m is x < 0 in each kernel that reads it
//
// The pass before decides for each value alone, and never repeats a sum; here the sum is in memory. The price of a set of stored
// values is what they cost to store and what all readers load and compute, where a reader does nothing twice. The set begins with
// all of them and gives up one after the other while that is cheaper. A sum that is not stored yet is tried as one more.
#include "engine/base/context_var.h"
#include "engine/rewrite/driver.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/storing_kernel.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uopscope::sched {

namespace {

using namespace pat;

class Recomputation {
public:
  Recomputation(UOp sink, ScheduleState& state) : state_(state) {
    findKernels(sink);
    if (kernels_.empty()) return;
    findReaders(sink);
    ChoiceNumbers numbers(sink);
    for (auto& [loops, kernel] : kernels_) {
      kernel.decide();
      kernel.number(numbers);
      kernel.finish();
      for (size_t k = 0; k < kernel.members.size(); ++k)
        if (!kernel.members[k].isKept) given_[kernel.members[k].buffer] = {&kernel, k};
    }
  }
  bool isEmpty() const { return given_.empty(); }
  /// Whether readers compute this value; its kernel and its place there.
  const std::pair<StoringKernel*, size_t>* given(UOp buffer) const {
    const auto found = given_.find(buffer);
    return found == given_.end() ? nullptr : &found->second;
  }

private:
  void findKernels(UOp sink);
  void findReaders(UOp sink);
  void readBelow(UOp value, int kernel, double times);

  ScheduleState& state_;
  std::map<std::pair<int, std::vector<uint32_t>>, StoringKernel> kernels_; ///< by number and loops
  UOpMap<std::pair<StoringKernel*, size_t>> memberOf_, given_;             ///< by BUFFERIZE
  std::map<int, std::vector<UOp>> reads_;                                  ///< by kernel
};

void Recomputation::findKernels(UOp sink) {
  for (UOp u : sink.toposort()) {
    if (!isStored(u)) continue;
    const StoredValue& value = state_.stored[static_cast<size_t>(u.tag().i())];
    std::vector<uint32_t> loops;
    for (UOp loop : storedOver(u)) loops.push_back(loop.id());
    StoringKernel& kernel = kernels_.try_emplace({value.kernel, std::move(loops)}, state_).first->second;
    kernel.members.push_back({u, true, value.removable && !value.ownKernel});
  }
  for (auto at = kernels_.begin(); at != kernels_.end();)
    at = at->second.hasChoice() ? std::next(at) : kernels_.erase(at);
  for (auto& [loops, kernel] : kernels_)
    for (size_t k = 0; k < kernel.members.size(); ++k) memberOf_[kernel.members[k].buffer] = {&kernel, k};
}

/// Notes the reads of a kernel: each as often as its loops ask for it, and below a sum in each of the steps.
void Recomputation::findReaders(UOp sink) {
  for (UOp u : sink.toposort())
    if (isStored(u)) readBelow(u.src(0), state_.stored[static_cast<size_t>(u.tag().i())].kernel, 0);
}

void Recomputation::readBelow(UOp value, int kernel, double times) {
  visitBelow(value, [&](UOp u) {
    if (u.is(Op::REDUCE)) readBelow(u.src(0), kernel, std::max(times, stepsOf(u.src(0).ranges())));
    if (u.is(Op::INDEX)) {
      std::vector<UOp>& all = reads_[kernel];
      all.push_back(u);
      if (const auto found = memberOf_.find(u.src(0)); found != memberOf_.end()) {
        auto [storing, member] = found->second;
        Reader& reader = storing->readers[kernel];
        reader.all = &all;
        reader.readings.push_back({member, u, std::max(times, stepsOf(u.ranges()))});
      }
      if (u.src(0).is(Op::BUFFERIZE) && !hasMemory(u.src(0))) readBelow(u.src(0).src(0), kernel, times);
    }
    return u.in({Op::REDUCE, Op::INDEX}) || isStored(u) ? Visit::Past : Visit::Below;
  });
}

UOp recomputeFromStored(Match& m) {
  const auto& recomputation = m.ctx<Recomputation>();
  const auto* given = recomputation.given(m.root().src(0));
  if (!given) return m.decline("its value is stored");
  auto [kernel, member] = *given;
  because([&] {
    const auto& choice = kernel->members[member].choice;
    std::string text = "computed from what its kernel stores besides, instead of stored as well";
    return choice ? Decision{fmt::format("{}; FLIP={} stores it", text, choice->number),
                             choice->again,
                             kPriceUnit,
                             {{"stored", choice->stored}}}
                  : Decision{std::move(text)};
  });
  return kernel->valueFor(member, m.root());
}

constexpr RuleDef kRecompute[] = {
    RULE("recompute-from-stored", op(Op::INDEX, any(Op::BUFFERIZE)).more(), recomputeFromStored)};
const KnownRules kRecomputeKnown(kRecompute);

} // namespace

const PatternMatcher& recomputeMatcher() {
  static const PatternMatcher rules({kRecompute});
  return rules;
}

UOp recomputeValues(UOp sink, ScheduleState& state) {
  if (vars::plain) return sink;
  Recomputation recomputation(sink, state);
  if (recomputation.isEmpty()) return sink;
  return graphRewriteBottomUp(sink, recomputeMatcher(),
                              {.name = "recompute from stored", .ctx = recomputation});
}

} // namespace uopscope::sched
