// Prices sets of stored values: what they cost to store, and what all readers load and compute.
#include "engine/schedule/storing_kernel.h"

#include "engine/base/context_var.h"
#include "engine/base/id_map.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/reader_loops.h"
#include "engine/schedule/value_work.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace uopscope::sched {

namespace {

/// Members, squared, times their operations: what deciding may take. With more all stay stored.
constexpr size_t kMostSteps = 1 << 20;
constexpr double kImpossible = std::numeric_limits<double>::infinity();

std::vector<UOp> indicesOf(UOp buffer) {
  return {buffer.src().begin() + 1, buffer.src().end()};
}
double elementsOf(UOp buffer) {
  return stepsOf(storedOver(buffer));
}

/// Whether it is made of reads by elementwise operations.
bool isComputable(UOp value) {
  return visitBelow(value, [](UOp u) {
    if (u.is(Op::INDEX)) return u.src(0).is(Op::BUFFER) || isStored(u.src(0)) ? Visit::Past : Visit::Stop;
    if (u.dtype().kind() == Scalar::Index || u.isConst()) return Visit::Past;
    return u.in(group::kElementwise) ? Visit::Below : Visit::Stop;
  });
}

} // namespace

double stepsOf(const std::vector<UOp>& ranges) {
  double steps = 1;
  for (UOp r : ranges) steps *= static_cast<double>(r.vmax() + 1);
  return steps;
}
bool isStored(UOp u) {
  return u.is(Op::BUFFERIZE) && hasMemory(u);
}
std::vector<UOp> storedOver(UOp buffer) {
  std::vector<UOp> loops;
  for (UOp r : buffer.src().subspan(1))
    if (r.is(Op::RANGE)) loops.push_back(r);
  return loops;
}

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

bool StoringKernel::hasChoice() {
  if (members.size() < 2) return false;
  std::vector<std::pair<UOp, int>> sums; // that candidates are made of, and of how many
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
      if (u.is(Op::REDUCE)) {
        const auto known = std::ranges::find(sums, u, &std::pair<UOp, int>::first);
        if (known == sums.end())
          sums.emplace_back(u, 1);
        else
          ++known->second;
      }
      return !isOther && u.in(group::kElementwise) ? Visit::Below : Visit::Past;
    });
  }
  if (nodes * members.size() * members.size() > kMostSteps) return false;
  const std::vector<UOp> loops = storedOver(members[0].buffer);
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

UOp StoringKernel::valueFor(size_t member, UOp index) {
  return valueAt(members[member].buffer, fromKept(member), index, state_.nextRange);
}

double StoringKernel::price() {
  double total = 0;
  for (const Member& m : members) {
    if (!m.isKept || !m.isCandidate) continue;
    const double elements = elementsOf(m.buffer);
    total += storing(elements, elements * m.buffer.dtype().itemsize(), readers.size());
  }
  std::vector<UOp> made(members.size()); // of those that are not kept, where they are read
  for (const auto& [kernel, reader] : readers) {
    IdMap<double> paid; // times that an operation was counted
    for (UOp read : *reader.all) paid.set(read.slot(), kImpossible);
    for (const Reading& r : reader.readings) paid.set(r.index.slot(), 0);
    for (const Reading& r : reader.readings) {
      UOp value = r.index;
      if (!members[r.member].isKept) {
        UOp& from = made[r.member];
        if (!from && !isComputable(from = fromKept(r.member))) return kImpossible;
        value = valueAt(members[r.member].buffer, from, r.index, state_.nextRange);
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

/// What storing a member costs by itself: its store, and the loads of its readers.
double StoringKernel::ownPrice(size_t member) const {
  const Member& m = members[member];
  const double elements = elementsOf(m.buffer);
  double own = storing(elements, elements * m.buffer.dtype().itemsize(), readers.size());
  for (const auto& [kernel, reader] : readers) {
    double times = 0; // that a kernel which reads it at several places loads it most
    for (const Reading& r : reader.readings)
      if (r.member == member) times = std::max(times, r.times);
    own += kLoad * times;
  }
  return own;
}

void StoringKernel::number(ChoiceNumbers& numbers) {
  if (!ChoiceNumbers::areAsked()) return;
  for (size_t k = 0; k < members.size(); ++k) {
    Member& m = members[k];
    if (!m.isCandidate) continue;
    const double without = priceWith(m, false), with = priceWith(m, true);
    if (without == kImpossible || with == kImpossible) continue;
    const auto at = static_cast<uint64_t>(m.buffer.tag().i());
    // What both alternatives have in common says nothing.
    const double stored = ownPrice(k);
    m.choice = StoreChoice{numbers.of({at, at, at}), std::max(0.0, stored + without - with), stored};
    if (m.choice->number == vars::flip) {
      m.isKept = !m.isKept;
      break;
    }
  }
}

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

} // namespace uopscope::sched
