// The pass "group outputs": stores over the same loops become one kernel, and so do kernels whose sums read the same memory
// (siblings.h).
//
//   END(STORE(a, v), r), END(STORE(b, w), r)  ->  END(GROUP(STORE(a, v), STORE(b, w)), r)
//
// Invariant: the kernels can still be ordered. Each merger is checked, since a kernel must not wait for itself.
#include "engine/base/context_var.h"
#include "engine/rewrite/driver.h"
#include "engine/schedule/choice_numbers.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/siblings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace uopscope::sched {

namespace {

using namespace pat;

struct Merger {
  UOp all;                          ///< the END of the whole kernel
  std::optional<Decision> why = {}; ///< why the store came into the kernel, or why others stay out of it
};
struct MergeContext {
  UOpMap<Merger> of; ///< by the END of each of its stores
};

UOp mergeStores(Match& m) {
  const UOpMap<Merger>& mergers = m.ctx<MergeContext>().of;
  const auto merger = mergers.find(m.root());
  if (merger == mergers.end()) return m.decline("its kernel stores nothing else");
  if (merger->second.why) because([&] { return *merger->second.why; });
  return merger->second.all;
}

constexpr RuleDef kGroup[] = {RULE("merge-stores", any(Op::END), mergeStores)};
const KnownRules kGroupKnown(kGroup);

struct StoreNode {
  UOp end;
  size_t value = 0;            ///< the number of the StoredValue
  std::vector<size_t> needs;   ///< stores of the buffers that this store reads
  std::vector<size_t> follows; ///< stores that read the contents that this store overwrites
};

class StoreGroups {
public:
  StoreGroups(UOp sink, ScheduleState& state) : state_(state), numbers_(sink) { readStores(sink); }

  /// Stores of one kernel over the same loops.
  void groupByKernel();
  /// Kernels that sum the same memory.
  void groupSiblings();
  MergeContext merged() const;

private:
  void readStores(UOp sink);
  /// Whether the kernels can still be ordered if each kernel's stores become one node.
  bool hasOrder() const;
  /// Puts these stores into the kernel of another one; false, and nothing changes, if there is no order then.
  bool tryMerge(size_t into, const std::vector<size_t>& members);
  bool tryShare(size_t host, size_t guest, SumKernel& to, const SumKernel& from, const Sharing& sharing);

  ScheduleState& state_;
  ChoiceNumbers numbers_;
  std::vector<StoreNode> stores_;
  std::vector<size_t> nodeOf_;          ///< the first store of each store's kernel
  std::map<size_t, UOpMap<UOp>> loops_; ///< of a store -> of the kernel that it came into
  std::map<size_t, Decision> why_;      ///< by the store
};

void StoreGroups::readStores(UOp sink) {
  UOpMap<size_t> numberOf;
  UOpMap<std::vector<size_t>> readersOf, writersOf; // of a version: a BUFFER, or the AFTER of an assignment
  for (UOp u : sink.toposort()) {
    if (!u.is(Op::AFTER) || !u.src(1).is(Op::END) || numberOf.contains(u.src(1))) continue;
    StoreNode node{u.src(1), static_cast<size_t>(u.tag().i()), {}, {}};
    for (UOp v : node.end.toposort([](UOp x) { return !x.is(Op::AFTER); })) {
      for (UOp s : v.src())
        if (s.is(Op::AFTER) && s.src(1).is(Op::END)) node.needs.push_back(numberOf.at(s.src(1)));
      if (v.is(Op::INDEX)) (v.dtype().isPtr() ? writersOf : readersOf)[v.src(0)].push_back(stores_.size());
    }
    numberOf[node.end] = stores_.size();
    nodeOf_.push_back(stores_.size());
    stores_.push_back(std::move(node));
  }
  for (const auto& [version, writers] : writersOf)
    if (auto readers = readersOf.find(version); readers != readersOf.end())
      for (size_t k : writers) stores_[k].follows = readers->second;
}

bool StoreGroups::hasOrder() const {
  std::vector<std::set<size_t>> next(stores_.size());
  std::vector<size_t> waiting(stores_.size(), 0), ready;
  for (size_t k = 0; k < stores_.size(); ++k)
    for (size_t n : stores_[k].needs)
      if (nodeOf_[n] == nodeOf_[k])
        return false; // one store of a group reads the finished buffer of another
      else if (next[nodeOf_[n]].insert(nodeOf_[k]).second)
        ++waiting[nodeOf_[k]];
  for (size_t k = 0; k < stores_.size(); ++k)
    for (size_t n : stores_[k].follows) // one kernel may read an element and then write it
      if (nodeOf_[n] != nodeOf_[k] && next[nodeOf_[n]].insert(nodeOf_[k]).second) ++waiting[nodeOf_[k]];
  for (size_t k = 0; k < stores_.size(); ++k)
    if (!waiting[k]) ready.push_back(k);
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    size_t k = ready.back();
    ready.pop_back();
    for (size_t later : next[k])
      if (!--waiting[later]) ready.push_back(later);
  }
  return done == stores_.size();
}

bool StoreGroups::tryMerge(size_t into, const std::vector<size_t>& members) {
  const std::vector<size_t> before = nodeOf_;
  for (size_t k : members) nodeOf_[k] = nodeOf_[into];
  if (hasOrder()) return true;
  nodeOf_ = before;
  return false;
}

void StoreGroups::groupByKernel() {
  // The loops are part of the key: a value that lost loops of its host no longer fits the host's kernel and
  // is stored by a kernel of its own.
  std::map<std::pair<int, std::vector<uint32_t>>, std::vector<size_t>> kernels;
  for (size_t k = 0; k < stores_.size(); ++k) {
    std::vector<uint32_t> loops;
    for (UOp r : stores_[k].end.src().subspan(1)) loops.push_back(r.id());
    kernels[{state_.stored[stores_[k].value].kernel, std::move(loops)}].push_back(k);
  }
  bool isGrouped = false;
  for (const auto& [kernel, members] : kernels)
    for (size_t k : members) {
      isGrouped |= k != members[0];
      nodeOf_[k] = members[0];
    }
  if (!isGrouped || hasOrder()) return;
  // Some group waits for itself: groups are added one at a time.
  for (size_t k = 0; k < stores_.size(); ++k) nodeOf_[k] = k;
  for (const auto& [kernel, members] : kernels)
    if (members.size() > 1) tryMerge(members[0], members);
}

bool StoreGroups::tryShare(size_t host, size_t guest, SumKernel& to, const SumKernel& from,
                           const Sharing& sharing) {
  const SharePrice price = priceOf(to, from, sharing);
  const bool isNumbered = ChoiceNumbers::areAsked();
  const int64_t number = isNumbered ? numbers_.of({host, guest}) : 0;
  if (price.isWorthwhile() == (isNumbered && number == vars::flip)) {
    why_[host] = {fmt::format("a kernel of other sums of its memory stays apart; FLIP={} lets it in", number),
                  price.apart,
                  kPriceUnit,
                  {{"one kernel", price.together}}};
    return false;
  }
  std::vector<size_t> members;
  for (size_t k = 0; k < stores_.size(); ++k)
    if (nodeOf_[k] == guest) members.push_back(k);
  if (!tryMerge(host, members)) return false;
  for (size_t k : members) {
    UOpMap<UOp>& loops = loops_[k];
    if (loops.empty())
      loops = sharing.loops;
    else
      for (auto& [own, now] : loops) now = sharing.loops.at(now);
  }
  join(to, from, sharing);
  why_[guest] = {
      fmt::format("it is stored with other sums of its memory, read once; FLIP={} stores it apart", number),
      price.together,
      kPriceUnit,
      {{"a kernel each", price.apart}}};
  return true;
}

void StoreGroups::groupSiblings() {
  if (vars::plain || vars::maxKernelBuffers >= 3)
    return;                            // with a limit, the buffers of each kernel were counted
  std::map<size_t, SumKernel> kernels; // by the first store
  for (size_t k = 0; k < stores_.size(); ++k) {
    SumKernel own = sumKernelOf(stores_[k].end, state_.stored[stores_[k].value]);
    auto [kernel, isNew] = kernels.try_emplace(nodeOf_[k], std::move(own));
    if (isNew) continue;
    kernel->second.sums += own.sums;
    kernel->second.reads.insert(kernel->second.reads.end(), own.reads.begin(), own.reads.end());
  }
  std::map<uint32_t, std::vector<size_t>> readers; // of a version -> kernels that sum it
  for (const auto& [first, kernel] : kernels) {
    std::set<uint32_t> versions;
    for (const SummedRead& read : kernel.reads) versions.insert(read.at.src(0).id());
    bool isShared = false;
    for (uint32_t version : versions) {
      std::vector<size_t>& hosts = readers[version];
      std::erase_if(hosts, [&](size_t host) { return isFull(kernels.at(host)); });
      for (size_t host : hosts) {
        const std::optional<Sharing> sharing = sharingOf(kernels.at(host), kernel);
        isShared = sharing && tryShare(host, first, kernels.at(host), kernel, *sharing);
        if (isShared) break;
      }
      if (isShared) break;
    }
    if (isShared) continue;
    for (uint32_t version : versions) readers[version].push_back(first);
  }
}

MergeContext StoreGroups::merged() const {
  std::map<size_t, std::vector<size_t>> groups;
  for (size_t k = 0; k < stores_.size(); ++k) groups[nodeOf_[k]].push_back(k);
  MergeContext merged;
  for (const auto& [first, members] : groups) {
    if (members.size() < 2) continue;
    std::vector<UOp> effects;
    for (size_t k : members) {
      const auto moved = loops_.find(k);
      const UOp effect = stores_[k].end.src(0);
      effects.push_back(moved == loops_.end() ? effect : inLoops(effect, moved->second));
    }
    const UOp all = UOp::groupOf(effects).end(stores_[first].end.src().subspan(1));
    for (size_t k : members) {
      const auto why = why_.find(k);
      merged.of[stores_[k].end] = {all, why == why_.end() ? std::nullopt : std::optional(why->second)};
    }
  }
  return merged;
}

} // namespace

const PatternMatcher& groupMatcher() {
  static const PatternMatcher rules({kGroup});
  return rules;
}

UOp groupStores(UOp sink, ScheduleState& state) {
  StoreGroups groups(sink, state);
  groups.groupByKernel();
  groups.groupSiblings();
  MergeContext merged = groups.merged();
  if (merged.of.empty()) return sink;
  return graphRewriteBottomUp(sink, groupMatcher(), {.name = "group outputs", .ctx = merged});
}

} // namespace uopscope::sched
