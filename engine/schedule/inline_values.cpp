// The pass "symbolic+reduce_collapse+debuf": values that are cheaper to compute again than to store lose
// their buffer.
//
// The price of a candidate with N elements that are asked for D times, W being the work of one element:
//   in memory     N * (W + kStore) + D * kLoad + kKernel     (W and kKernel only where no kernel that is there in
//   any case computes it) inlined       D * W
// Work is counted in quarters of a simple vector operation; the nodes below a REDUCE count once per iteration. A
// reduction over memory is never repeated; an expression of no memory at all, or of one load and next to
// nothing, always is, and so is a mask that selects places by numbers in memory: the sum over the places that reads
// it becomes a single load. So is a value that is zero but where two loops are at the same place, as unit vectors
// and diagonals are.
#include "engine/base/context_var.h"
#include "engine/rules/load_collapse.h"
#include "engine/rules/rules.h"
#include "engine/schedule/choice_numbers.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"
#include "engine/schedule/reader_loops.h"
#include "engine/schedule/value_work.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace uopscope::sched {

namespace {

using namespace pat;
constexpr PatVar buf{"buf"}, value{"value"};

constexpr double kTrivial = 8; ///< work besides one load that does not justify a buffer
/// Work, loads included, that takes as long as to store and to load it in the nearest cache. Conditions change their form on both ways.
constexpr double kCheapInRow = 12, kCheapConditionInRow = 24;
constexpr double kNoMemory = 64; ///< work without a load that does not justify a buffer
constexpr size_t kMostInlinedMemories =
    3; ///< with PLAIN: buffers that a value may read whose readers compute it
/// What a window of a pooling loses on a processor by a number that it reads below a condition: lanes that lie apart, each with
/// a branch. Stored with its margin, a picture is read by vectors.
constexpr double kWindowBelowCondition = 36;

/// The number of different buffers that a value is computed from.
size_t memoriesRead(UOp root) {
  UOpMap<bool> read;
  visitBelow(root, [&](UOp u) {
    if (!u.is(Op::INDEX)) return u.is(Op::BUFFERIZE) ? Visit::Past : Visit::Below;
    read[u.src(0)] = true;
    return Visit::Past;
  });
  return read.size();
}

bool readsMemory(UOp root) {
  return !visitBelow(root, [](UOp u) {
    return u.in({Op::INDEX, Op::BUFFERIZE, Op::BUFFER, Op::AFTER}) ? Visit::Stop : Visit::Below;
  });
}

/// Whether a value goes by a loop only by asking if its place is equal to a number in memory, as indices[i] == place
/// does.
bool selectsPlaces(UOp value, UOp loop) {
  auto goesBy = [&](UOp u) {
    const auto& open = u.ranges();
    return std::find(open.begin(), open.end(), loop) != open.end();
  };
  auto isPlace = [&](UOp a, UOp b) { return goesBy(a) && !readsMemory(a) && !goesBy(b) && readsMemory(b); };
  return visitBelow(value, [&](UOp u) {
    if (!goesBy(u)) return Visit::Past;
    if (u.in({Op::CMPNE, Op::CMPEQ}) && (isPlace(u.src(0), u.src(1)) || isPlace(u.src(1), u.src(0))))
      return Visit::Past;
    return u.in(group::kElementwise) ? Visit::Below : Visit::Stop;
  });
}
bool isMaskOfPlaces(UOp value) {
  const auto& open = value.ranges();
  return std::any_of(open.begin(), open.end(), [&](UOp loop) {
    return loop.axisType() != AxisType::Reduce && selectsPlaces(value, loop);
  });
}

/// Whether a condition, or a number made of one, asks if two loops are at the same place.
bool equatesLoops(UOp u) {
  while (u.is(Op::CAST) || (u.is(Op::CMPNE) && u.src(0).dtype().isBool() && u.src(1).isConst(1)))
    u = u.src(0);
  if (!u.in({Op::CMPNE, Op::CMPEQ}) || readsMemory(u)) return false;
  const auto &a = u.src(0).ranges(), &b = u.src(1).ranges();
  return !a.empty() && !b.empty() &&
         std::none_of(a.begin(), a.end(), [&](UOp r) { return std::find(b.begin(), b.end(), r) != b.end(); });
}
bool isDiagonal(UOp value) {
  return !visitBelow(value, [](UOp u) {
    if (u.is(Op::MUL)) return Visit::Below;
    bool isZeroApart = u.is(Op::WHERE) && u.src(2).isConst(0.0) && equatesLoops(u.src(0));
    return isZeroApart || (u.is(Op::CAST) && equatesLoops(u)) ? Visit::Stop : Visit::Past;
  });
}

class Inliner {
public:
  Inliner(ScheduleState& state, UOp sink) : state_(state), sink_(sink), numbers_(sink) {}

  /// Whether the readers of this BUFFERIZE compute its value themselves. The decision is the same for all
  /// readers.
  bool inlines(UOp buffer) {
    auto n = static_cast<size_t>(buffer.tag().i());
    StoredValue& value = state_.stored[n];
    if (!value.removable) return false;
    if (decided_.size() < state_.stored.size()) decided_.resize(state_.stored.size(), 0);
    if (!decided_[n]) decided_[n] = decide(buffer.src(0), value) ? 1 : 2;
    return decided_[n] == 1;
  }

  /// Whether it is a reduction to a single element that has to be stored: because of `storeScalars`, or since so many
  /// kernels read it that computing it in each of them costs more than a kernel of its own. With PLAIN a loop that reads
  /// it is enough.
  bool mustStore(UOp buffer) const {
    for (UOp loop : buffer.src().subspan(1))
      if (loop.is(Op::RANGE)) return false;
    const StoredValue& value = state_.stored[static_cast<size_t>(buffer.tag().i())];
    const auto readers = static_cast<double>(value.users.size());
    // A value with axes, all of them short, that a reader's loops run over.
    const bool isRepeated = vars::plain && !value.shape.empty() && value.demand > readers;
    if (!state_.storeScalars && !isRepeated && (readers < 2 || vars::plain)) return false;
    const Work work = workOf(buffer.src(0));
    return (work.reducesMemory || work.readsRow) &&
           (state_.storeScalars || isRepeated || (readers - 1) * work.total > kKernel);
  }

  /// Whether a value that its kernel keeps along a row costs no more than to store it and to read it back. A script that
  /// asks for rows (PCONTIG) gets them.
  bool inlinesRow(UOp buffer) {
    if (vars::pcontig != 0) return false;
    const auto [known, isNew] = rows_.try_emplace(buffer.id(), false);
    if (!isNew) return known->second;
    const Work work = workOf(buffer.src(0));
    known->second = !work.tooLarge && !work.reducesMemory &&
                    work.total <= (buffer.dtype().isBool() ? kCheapConditionInRow : kCheapInRow);
    return known->second;
  }

  /// The value with its loops replaced by the indices of a reader.
  UOp inlined(UOp buffer, UOp reader) {
    auto [it, isNew] = memo_.try_emplace({buffer.id(), reader.id()});
    if (isNew) it->second = valueAt(buffer, buffer.src(0), reader, state_.nextRange);
    return it->second;
  }

  StoredValue& stored(UOp buffer) { return state_.stored[static_cast<size_t>(buffer.tag().i())]; }

private:
  bool decide(UOp value, StoredValue& info) {
    if (value.in({Op::CONTIGUOUS, Op::COPY, Op::ASSIGN})) return false;
    const Work work = workOf(value);
    if (work.tooLarge || work.reducesMemory || work.readsRow) return false;
    if (vars::plain) return memoriesRead(value) <= kMostInlinedMemories;
    const bool isTrivial =
        !isWindowed(work, info) &&
        ((!work.loads && work.total <= kNoMemory) || (work.loads <= 1 && work.total <= kLoad + kTrivial) ||
         (work.total <= kNoMemory && (isMaskOfPlaces(value) || isDiagonal(value))));
    const bool isChoice = info.removable && ChoiceNumbers::areAsked();
    if (isTrivial && !isChoice) return true;
    StoreChoice choice = priced(work, info, info.elements * value.dtype().itemsize());
    const bool inlines = isTrivial || choice.again <= choice.stored;
    if (!isChoice) return inlines;
    choice.number = numbers_.of({static_cast<uint64_t>(&info - state_.stored.data())});
    info.choice = choice;
    return inlines != (choice.number == vars::flip);
  }

  /// Whether windows of a maximum read it, which overlap and reach into its margins. A number is read by no more of them than a
  /// window of 8 by 8 holds; a running maximum reads it far more often, and a loop may carry that one.
  static bool isWindowed(const Work& work, const StoredValue& info) {
    const double uses = info.demand / info.elements;
    return work.isGated && work.isFilled && uses >= 1.5 && uses <= 64 && isProcessor(info.device);
  }

  StoreChoice priced(const Work& work, const StoredValue& info, double bytes) {
    double demand = info.demand, inMemory = storing(info.elements, bytes, info.users.size());
    const bool hosted = info.hosted && hostStays(info.kernel);
    if (!hosted) inMemory += info.elements * work.total + kKernel;
    if (info.hosted && !hosted) demand += state_.stored[static_cast<size_t>(info.kernel)].demand;
    const double each = work.total + (isWindowed(work, info) ? kWindowBelowCondition : 0);
    return {0, demand * each, inMemory + demand * kLoad};
  }

  /// Whether a value's host kernel stays. If the readers of a host inline it, its kernel disappears, and so
  /// does the place where its guests are stored. The host may not be decided yet, so it is priced with the
  /// ranges first assigned.
  bool hostStays(int kernel) {
    if (values_.empty())
      for (UOp u : sink_.toposort())
        if (u.is(Op::BUFFERIZE) && hasMemory(u)) {
          const StoredValue& value = state_.stored[static_cast<size_t>(u.tag().i())];
          values_[u.tag().i()] = u.src(0);
          if (!value.removable) stays_[value.kernel] = true;
        }
    auto [known, isNew] = stays_.try_emplace(kernel, true);
    auto host = values_.find(kernel);
    if (isNew && host != values_.end())
      known->second = !decide(host->second, state_.stored[static_cast<size_t>(kernel)]);
    return known->second;
  }

  ScheduleState& state_;
  UOp sink_; ///< the graph before the pass
  ChoiceNumbers numbers_;
  std::vector<char> decided_;
  std::map<uint32_t, bool> rows_; ///< by the BUFFERIZE's id
  std::map<int64_t, UOp> values_; ///< stored values by number
  std::map<int, bool> stays_;     ///< whether a kernel stays, by the number of its first value
  std::map<std::pair<uint32_t, uint32_t>, UOp> memo_;
};

bool isRemovable(const Match& m) {
  return m[buf].arg().as<BufferizeOpts>().removable;
}
bool isStored(const Match& m) {
  return hasMemory(m[buf]);
}
/// A value with memory, or one that its kernel keeps along a row.
bool isStoredOrRow(const Match& m) {
  return isStored(m) || m[buf].arg().as<BufferizeOpts>().addrspace == AddrSpace::Reg;
}
bool isReadInItsLoops(const Match& m) {
  auto loops = m[buf].src().subspan(1), indices = m.root().src().subspan(1);
  return std::equal(loops.begin(), loops.end(), indices.begin(), indices.end());
}
bool mayStayUnstored(const Match& m) {
  return !m.ctx<Inliner>().mustStore(m[buf]);
}

/// Removes axes that the value does not depend on: they would store copies of the same elements.
UOp dropDeadLoops(Match& m) {
  UOp b = m[buf], reader = m.root();
  StoredValue& value = m.ctx<Inliner>().stored(b);
  if (!value.removable || value.exactShape || b.srcCount() != reader.srcCount())
    return m.decline("the value has to be stored as it is");
  std::vector<UOp> loops{b.src(0)}, at{b};
  for (size_t k = 1; k < b.srcCount(); ++k) {
    const auto& open = b.src(0).ranges();
    bool dead = b.src(k).isConst() || std::find(open.begin(), open.end(), b.src(k)) == open.end();
    if (dead) continue;
    loops.push_back(b.src(k));
    at.push_back(reader.src(k));
  }
  if (loops.size() == b.srcCount()) return m.decline("every loop counts");
  at[0] = b.withSrc(loops);
  value.elements = 1;
  for (size_t k = 1; k < loops.size(); ++k) value.elements *= static_cast<double>(loops[k].vmax() + 1);
  return reader.withSrc(at);
}

UOp inlineValue(Match& m) {
  auto& inliner = m.ctx<Inliner>();
  if (!isStored(m)) {
    if (!inliner.inlinesRow(m[buf])) return m.decline("the row is cheaper to read than to compute again");
    because([] { return Decision{"it takes as long as to store the row and to read it"}; });
    return inliner.inlined(m[buf], m.root());
  }
  if (!inliner.inlines(m[buf])) return m.decline("storing it is cheaper, or several need it");
  because([&] {
    const auto& choice = inliner.stored(m[buf]).choice;
    return choice ? Decision{fmt::format("its readers compute it again; FLIP={} stores it", choice->number),
                             choice->again,
                             kPriceUnit,
                             {{"stored", choice->stored}}}
                  : Decision{"its readers compute it again"};
  });
  return inliner.inlined(m[buf], m.root());
}

/// A reduction over loops that its value does not depend on becomes a product or a power.
UOp reduceOfConstant(Match& m) {
  UOp r = m.root(), value = r.src(0);
  const auto& open = value.ranges();
  std::vector<UOp> left;
  UOp times;
  for (UOp loop : r.src().subspan(1)) {
    if (std::find(open.begin(), open.end(), loop) != open.end())
      left.push_back(loop);
    else
      times = times ? times * loop.src(0) : loop.src(0);
  }
  if (left.size() + 1 == r.srcCount()) return m.decline("the value depends on every loop");
  Op op = r.arg().op();
  if (op == Op::ADD)
    value = value * times.cast(value.dtype());
  else if (op == Op::MUL)
    value = value.alu(Op::POW, {times.cast(value.dtype())});
  return value.reduce(op, left);
}

/// A sum of an expression of loop variables alone, such as arange, often has a closed form.
UOp collapseSum(Match& m) {
  static const PatternMatcher closedForms({loadCollapseRules()});
  return readsMemory(m.root().src(0)) ? m.decline("the sum reads memory") : closedForms.rewrite(m.root());
}

constexpr Pat kReader = op(Op::INDEX, any(Op::BUFFERIZE).named(buf)).more();
constexpr RuleDef kInline[] = {
    RULE("reduce-of-constant", any(Op::REDUCE), reduceOfConstant),
    RULE("collapse-loop-sum", any(Op::REDUCE), collapseSum),
    RULE("index-of-constant", op(Op::INDEX, op(Op::BUFFERIZE, any(Op::CONST).named(value)).more()).more(),
         value),
    // A reader in the loops that compute the value uses it directly.
    RULE("same-loops", op(Op::INDEX, op(Op::BUFFERIZE, value).more().named(buf)).more(), value,
         guard::when(isRemovable, "the value has to be stored"),
         guard::when(isReadInItsLoops, "it is read by other loops"),
         guard::when(mayStayUnstored, "a small update, or a sum that many kernels read, has to be stored")),
    RULE("drop-dead-loops", kReader, dropDeadLoops, guard::when(isStored, "its kernel stores it for itself")),
    RULE("inline-cheap-value", kReader, inlineValue,
         guard::when(isStoredOrRow, "threads of its kernel share it")),
};
const KnownRules kInlineKnown(kInline);

} // namespace

const PatternMatcher& inlineMatcher() {
  static const PatternMatcher rules = symbolic() + PatternMatcher({kInline});
  return rules;
}

UOp removeCheapBuffers(UOp sink, ScheduleState& state) {
  Inliner inliner(state, sink);
  return graphRewrite(sink, inlineMatcher(), {.name = "symbolic+reduce_collapse+debuf", .ctx = inliner});
}

} // namespace uopscope::sched
