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
#include "engine/base/id_map.h"
#include "engine/schedule/choice_numbers.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/reader_loops.h"
#include "engine/schedule/value_work.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace uopscope::sched {

namespace {

using namespace pat;

/// Members, squared, times their operations: what deciding may take. With more all stay stored.
constexpr size_t kMostSteps = 1 << 20;
constexpr double kOfCondition =
    0.5; ///< what storing a condition costs, of a number with four times its bytes
constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// A value that a kernel stores, or a sum that it could store.
struct Member {
  UOp buffer; ///< its BUFFERIZE
  bool isKept = true;
  bool isCandidate = false;               ///< its readers may compute it
  bool isNew = false;                     ///< nothing stores it yet
  std::optional<StoreChoice> choice = {}; ///< prices of all that the kernel stores, and of its readers
};

/// The read of a member by another kernel.
struct Reading {
  size_t member;
  UOp index;
  double times; ///< that it is computed
};

/// What another kernel reads of the members.
struct Reader {
  std::vector<Reading> readings;
  const std::vector<UOp>* all = nullptr; ///< its reads of any memory
};

double extentsOf(UOp u) {
  double times = 1;
  for (UOp r : u.ranges()) times *= static_cast<double>(r.vmax() + 1);
  return times;
}
bool isStored(UOp u) {
  return u.is(Op::BUFFERIZE) && hasMemory(u);
}
std::vector<UOp> indicesOf(UOp buffer) {
  return {buffer.src().begin() + 1, buffer.src().end()};
}
std::vector<UOp> loopsOf(UOp buffer) {
  std::vector<UOp> loops;
  for (UOp r : buffer.src().subspan(1))
    if (r.is(Op::RANGE)) loops.push_back(r);
  return loops;
}

double elementsOf(UOp buffer) {
  double elements = 1;
  for (UOp loop : loopsOf(buffer)) elements *= static_cast<double>(loop.vmax() + 1);
  return elements;
}

/// The values that one kernel stores over the same loops.
class StoringKernel {
public:
  explicit StoringKernel(ScheduleState& state) : state_(state) {}

  std::vector<Member> members;
  std::map<int, Reader> readers; ///< by kernel

  /// Whether readers could compute a member from another one, or from a sum, which becomes a member then.
  bool hasChoice();
  void decide();
  void number(ChoiceNumbers& numbers);
  void finish();
  /// What a reader of a member computes instead.
  UOp valueFor(size_t member, UOp index) {
    return valueAt(members[member].buffer, fromKept(member), index, state_.nextRange);
  }
  double price();

private:
  UOp fromKept(size_t member) const;
  bool isComputable(UOp value) const;
  void giveUp();
  double priceWith(Member& member, bool isKept);

  ScheduleState& state_;
};

/// The value of a member in terms of what stays stored.
UOp StoringKernel::fromKept(size_t member) const {
  UOpMap<UOp> reads;
  for (const Member& m : members)
    if (m.isKept) reads.try_emplace(m.buffer.src(0), m.buffer.indexed(indicesOf(m.buffer)));
  IdMap<const Node*> done;
  const auto walk = [&](const auto& self, UOp u) -> UOp {
    if (const Node** known = done.find(u.slot())) return UOp(*known);
    UOp now = u;
    if (const auto read = reads.find(u); read != reads.end()) {
      now = read->second;
    } else if (u.in(group::kElementwise)) {
      std::vector<UOp> src;
      for (UOp s : u.src()) src.push_back(self(self, s));
      now = u.withSrc(src);
    }
    done.set(u.slot(), now.node());
    return now;
  };
  return walk(walk, members[member].buffer.src(0));
}

/// Whether it is made of reads by elementwise operations.
bool StoringKernel::isComputable(UOp value) const {
  return visitBelow(value, [](UOp u) {
    if (u.is(Op::INDEX)) return u.src(0).is(Op::BUFFER) || isStored(u.src(0)) ? Visit::Past : Visit::Stop;
    if (u.dtype().kind() == Scalar::Index || u.isConst()) return Visit::Past;
    return u.in(group::kElementwise) ? Visit::Below : Visit::Stop;
  });
}

bool StoringKernel::hasChoice() {
  if (members.size() < 2) return false;
  UOpMap<int> sums; // that candidates are made of -> of how many
  size_t nodes = 0;
  bool isLinked = false;
  for (Member& m : members) {
    if (!m.isCandidate || m.buffer.src(0).is(Op::REDUCE)) continue;
    visitBelow(m.buffer.src(0), [&](UOp u) {
      if (++nodes * members.size() * members.size() > kMostSteps) return Visit::Stop;
      const bool isOther = u != m.buffer.src(0) && std::ranges::any_of(members, [&](const Member& other) {
                             return other.buffer.src(0) == u;
                           });
      isLinked |= isOther;
      if (u.is(Op::REDUCE)) ++sums[u];
      return !isOther && u.in(group::kElementwise) ? Visit::Below : Visit::Past;
    });
  }
  if (nodes * members.size() * members.size() > kMostSteps) return false;
  const std::vector<UOp> loops = loopsOf(members[0].buffer);
  for (const auto& [sum, users] : sums) {
    const bool isWhole = std::ranges::all_of(loops, [&](UOp loop) { return sum.dependsOn(loop); });
    if (users < 2 || !isWhole) continue;
    std::vector<UOp> src(members[0].buffer.src().begin(), members[0].buffer.src().end());
    src[0] = sum;
    const auto number = static_cast<int64_t>(state_.stored.size() + members.size());
    const BufferizeOpts opts{members[0].buffer.arg().as<BufferizeOpts>().device, AddrSpace::Global, true};
    members.push_back(
        {UOp::make(Op::BUFFERIZE, sum.dtype(), src, Arg::of(opts), Arg::of(number)), false, true, true});
    isLinked = true;
  }
  return isLinked;
}

double StoringKernel::price() {
  double total = 0;
  for (const Member& m : members) {
    if (!m.isKept || !m.isCandidate) continue;
    const double elements = elementsOf(m.buffer);
    total += storing(elements, elements * m.buffer.dtype().itemsize(), readers.size());
  }
  for (const auto& [kernel, reader] : readers) {
    IdMap<double> paid; // times that an operation was counted
    for (UOp read : *reader.all) paid.set(read.slot(), kImpossible);
    for (const Reading& r : reader.readings) paid.set(r.index.slot(), 0);
    for (const Reading& r : reader.readings) {
      UOp value = r.index;
      if (!members[r.member].isKept) {
        if (!isComputable(fromKept(r.member))) return kImpossible;
        value = valueFor(r.member, r.index);
      }
      visitBelow(value, [&](UOp u) {
        if (u.dtype().kind() == Scalar::Index || u.isConst()) return Visit::Past;
        const double* before = paid.find(u.slot());
        if (const double more = r.times - (before ? *before : 0); more > 0) {
          total += more * (u.is(Op::INDEX) ? kLoad : weightOf(u));
          paid.set(u.slot(), r.times);
        }
        return u.is(Op::INDEX) ? Visit::Past : Visit::Below;
      });
    }
  }
  return total;
}

double StoringKernel::priceWith(Member& member, bool isKept) {
  const bool before = std::exchange(member.isKept, isKept);
  const double total = price();
  member.isKept = before;
  return total;
}

/// Gives up one member after the other while that makes all of it cheaper.
void StoringKernel::giveUp() {
  double best = price();
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (Member& m : members) {
      if (!m.isKept || !m.isCandidate) continue;
      const double without = priceWith(m, false);
      if (without >= best) continue;
      best = without;
      m.isKept = false;
      isChanged = true;
    }
  }
}

/// Stores a sum as well where that makes it cheaper.
void StoringKernel::decide() {
  giveUp();
  for (size_t added = 0; added < members.size(); ++added) {
    if (!members[added].isNew) continue;
    const std::vector<Member> before = members;
    const double best = price();
    for (Member& m : members) m.isKept = m.isKept || !m.isNew;
    members[added].isKept = true;
    giveUp();
    if (price() >= best) members = before;
  }
  std::erase_if(members, [](const Member& m) { return m.isNew && !m.isKept; });
}

/// Numbers the choices, and makes the one that FLIP asks for the other way.
void StoringKernel::number(ChoiceNumbers& numbers) {
  if (!ChoiceNumbers::areAsked()) return;
  for (Member& m : members) {
    if (!m.isCandidate) continue;
    const double without = priceWith(m, false), with = priceWith(m, true);
    if (without == kImpossible || with == kImpossible) continue;
    const auto at = static_cast<uint64_t>(m.buffer.tag().i());
    m.choice = StoreChoice{numbers.of({at, at, at}), without, with};
    if (m.choice->number == vars::flip) {
      m.isKept = !m.isKept;
      break;
    }
  }
}

/// Tells the state what is stored now.
void StoringKernel::finish() {
  for (Member& m : members) {
    if (m.isNew && m.isKept) {
      const auto host = static_cast<size_t>(members[0].buffer.tag().i());
      StoredValue value = state_.stored[host];
      value.node = m.buffer.src(0);
      value.elements = elementsOf(m.buffer);
      value.hosted = value.removable = true;
      value.exactShape = false;
      value.parts.clear();
      value.choice.reset();
      value.ownKernel.reset();
      m.buffer = m.buffer.withTag(Arg::of(static_cast<int64_t>(state_.stored.size())));
      state_.stored.push_back(std::move(value));
    }
    if (m.choice) state_.stored[static_cast<size_t>(m.buffer.tag().i())].choice = m.choice;
  }
}

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
    for (UOp loop : loopsOf(u)) loops.push_back(loop.id());
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
    if (u.is(Op::REDUCE)) readBelow(u.src(0), kernel, std::max(times, extentsOf(u.src(0))));
    if (u.is(Op::INDEX)) {
      std::vector<UOp>& all = reads_[kernel];
      all.push_back(u);
      if (const auto found = memberOf_.find(u.src(0)); found != memberOf_.end()) {
        auto [storing, member] = found->second;
        Reader& reader = storing->readers[kernel];
        reader.all = &all;
        reader.readings.push_back({member, u, std::max(times, extentsOf(u))});
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
