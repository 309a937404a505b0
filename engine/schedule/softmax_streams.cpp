// The pass "stream softmax": a sum that a softmax weights, as in attention, is computed in one loop over the keys, and neither
// scores nor weights are stored.
//
//   s = q @ k.T;  m = max s;  p = exp(s - m) / sum exp(s - m);  out = p @ v          four kernels, memory for rows x keys twice
//   out = sum exp(q @ k - m) v / sum exp(q @ k - m)                                  one kernel, which carries m from key to key
//
// The rule writes the second form: one expression, with the scores inside and the division outside of the sum. The kernel's pass
// "carry maximum" (engine/codegen/streams.h) makes the loop; it accepts every expression that the rule makes, since both ask
// softmaxSumsOf. A processor's caches hold a block of rows; on a GPU kernels stay as they are.
#include "engine/base/context_var.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/movement_index.h"
#include "engine/rules/softmax_sums.h"
#include "engine/schedule/choice_numbers.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace uopscope::sched {

namespace {

using namespace pat;

/// Rows of a block, for which each key is read once: a part of it is as good as a whole one.
constexpr double kRowsOfBlock = 64;

struct StreamContext {
  ScheduleState& state;
  ChoiceNumbers numbers;
};

/// Sees through values that are stored, or kept along a row, and notes them.
class Opened {
public:
  explicit Opened(ScheduleState& state) : state_(state) {}

  /// What a read of such a value is computed from, in the loops of the reader; any other node as it is.
  UOp operator()(UOp read) {
    if (!read.is(Op::INDEX) || !read.src(0).is(Op::BUFFERIZE)) return read;
    const UOp b = read.src(0);
    if (hasMemory(b) && !state_.stored[static_cast<size_t>(b.tag().i())].removable) return read;
    UOpMap<UOp> to;
    for (size_t k = 1; k < b.srcCount(); ++k) {
      if (ungate(read.src(k)).valid) return read;
      if (b.src(k).is(Op::RANGE)) to[b.src(k)] = read.src(k);
    }
    if (hasMemory(b)) stored_.insert(static_cast<size_t>(b.tag().i()));
    return b.src(0).substitute(to);
  }
  /// Numbers of the stored values seen through.
  const std::set<size_t>& stored() const { return stored_; }

  /// The score with the products that are stored for it inside, over ranges of their own.
  UOp score(UOp score, UOp key) {
    std::vector<UOp> reads;
    visitBelow(score, [&](UOp u) {
      if (!u.is(Op::INDEX)) return Visit::Below;
      if (u.src(0).is(Op::BUFFERIZE) && u.dependsOn(key)) reads.push_back(u);
      return Visit::Past;
    });
    UOpMap<UOp> with;
    for (UOp read : reads) {
      if (!isProduct(read.src(0).src(0))) continue;
      const UOp value = (*this)(read);
      UOpMap<UOp> fresh;
      visitBelow(value, [&](UOp u) {
        if (u.is(Op::REDUCE))
          for (UOp r : u.src().subspan(1))
            if (r.is(Op::RANGE)) fresh[r] = UOp::range(r.src(0), {state_.nextRange++}, r.axisType());
        return u.is(Op::BUFFERIZE) ? Visit::Past : Visit::Below;
      });
      if (value != read) with[read] = value.substitute(fresh);
    }
    return with.empty() ? UOp() : score.substitute(with);
  }

private:
  /// Whether a value is computed from a sum of products, element by element.
  static bool isProduct(UOp value) {
    return !visitBelow(value, [](UOp u) {
      if (u.is(Op::REDUCE)) return u.src(0).is(Op::MUL) ? Visit::Stop : Visit::Past;
      return u.in(group::kElementwise) ? Visit::Below : Visit::Past;
    });
  }

  ScheduleState& state_;
  std::set<size_t> stored_;
};

/// The quotient of streamed sums that a sum of weighted values is; null if no softmax weights them.
UOp quotientOf(UOp sum, Opened& open) {
  if (sum.arg().op() != Op::ADD || sum.srcCount() != 2 || !sum.src(0).is(Op::MUL) ||
      !sum.src(1).is(Op::RANGE))
    return {};
  const UOp key = sum.src(1);
  for (size_t side = 0; side < 2; ++side) {
    const UOp share = open(sum.src(0).src(side)), factor = sum.src(0).src(1 - side);
    if (!share.is(Op::FDIV)) continue;
    const UOp weight = open(share.src(0)), total = open(share.src(1));
    SoftmaxSums read;
    if (!readWeight(weight, read) || !total.is(Op::REDUCE) || total.arg().op() != Op::ADD ||
        total.srcCount() != 2)
      continue;
    const UOp largest = open(read.maximum);
    if (!largest.is(Op::REDUCE) || largest.arg().op() != Op::MAX || largest.srcCount() != 2) continue;
    // The weights of the total, and the scores of the largest one, are the same in loops of their own.
    if (open(total.src(0)) != weight.substitute({{key, total.src(1)}}) ||
        open(largest.src(0)) != open(read.score.substitute({{key, largest.src(1)}})))
      continue;
    const UOp score = open.score(read.score, key), all = open.score(largest.src(0), largest.src(1));
    if (!score || !all) continue;
    const UOp maximum = all.reduce(Op::MAX, std::vector<UOp>{largest.src(1)});
    const UOp streamed = weight.substitute({{read.score, score}, {read.maximum, maximum}});
    const std::vector<UOp> keys{key};
    const UOp term = side ? factor.alu(Op::MUL, {streamed}) : streamed.alu(Op::MUL, {factor});
    return term.reduce(Op::ADD, keys).alu(Op::FDIV, {streamed.reduce(Op::ADD, keys)});
  }
  return {};
}

/// Whether nobody but these values, and the kernel, reads what is stored for the kernel.
bool readsAlone(const ScheduleState& state, const std::set<size_t>& stored, int kernel) {
  return std::ranges::all_of(stored, [&](size_t n) {
    return std::ranges::all_of(state.stored[n].users, [&](int user) {
      return user == kernel ||
             std::ranges::any_of(stored, [&](size_t s) { return state.stored[s].kernel == user; });
    });
  });
}

/// Whether the kernel stores other values too.
bool hasGuests(const ScheduleState& state, int kernel) {
  return std::ranges::count(state.stored, kernel, &StoredValue::kernel) != 1;
}

UOp streamSoftmax(Match& m) {
  auto& [state, numbers] = m.ctx<StreamContext>();
  const UOp b = m.root(), value = b.src(0);
  if (!hasMemory(b)) return m.decline("its kernel stores it for itself");
  const auto number = static_cast<size_t>(b.tag().i());
  const StoredValue& info = state.stored[number];
  if (vars::plain || vars::pcontig > 0 || !isProcessor(info.device))
    return m.decline("not on this device, or not asked for");
  if (!value.below().has(Op::EXP2)) return m.decline("nothing below is a softmax");
  UOpMap<UOp> quotients;
  Opened open(state);
  visitBelow(value, [&](UOp u) {
    if (u.is(Op::REDUCE))
      if (UOp quotient = quotientOf(u, open)) quotients[u] = quotient;
    return u.in({Op::REDUCE, Op::INDEX, Op::BUFFERIZE}) ? Visit::Past : Visit::Below;
  });
  if (quotients.empty()) return m.decline("no softmax weights a sum");
  if (info.kernel != static_cast<int>(number) || hasGuests(state, info.kernel) ||
      !readsAlone(state, open.stored(), info.kernel))
    return m.decline("others read the scores or the weights, or the kernel stores other values too");
  std::vector<UOp> loops;
  for (UOp r : b.src().subspan(1))
    if (r.is(Op::RANGE)) loops.push_back(r);
  const UOp streamed = value.substitute(quotients);
  const auto sums = softmaxSumsOf(streamed, loops);
  if (!sums) return m.decline("rows, columns and keys are not apart, or there are few of them");

  double stored = 0, read = 0, scores = static_cast<double>(sums->key.vmax() + 1);
  for (size_t n : open.stored()) stored += state.stored[n].elements * (kStore + kLoad) + kKernel;
  for (UOp l : loops)
    if (l != sums->column) scores *= static_cast<double>(l.vmax() + 1);
  for (const SoftmaxSums::Product& p : sums->products)
    for (UOp r : p.reduce.src().subspan(1)) read += static_cast<double>(r.vmax() + 1);
  if (sums->column) read += static_cast<double>(sums->column.vmax() + 1);
  read *= scores * kLoad / kRowsOfBlock;
  const bool isAsked = ChoiceNumbers::areAsked();
  const int64_t choice = isAsked ? numbers.of({number, number}) : 0;
  if ((read <= stored) == (isAsked && choice == vars::flip))
    return m.decline("its scores are cheaper to store, or FLIP asks for it");
  because([&] {
    return Decision{fmt::format("its scores and weights are not stored, each block of rows reads the keys "
                                "again; FLIP={} stores them",
                                choice),
                    read,
                    kPriceUnit,
                    {{"stored", stored}}};
  });
  std::vector<UOp> src(b.src().begin(), b.src().end());
  src[0] = streamed;
  return b.withSrc(src);
}

constexpr RuleDef kStream[] = {RULE("stream-softmax", any(Op::BUFFERIZE), streamSoftmax)};

} // namespace

const PatternMatcher& streamMatcher() {
  static const PatternMatcher rules({kStream});
  return rules;
}

UOp streamSoftmaxes(UOp sink, ScheduleState& state) {
  StreamContext ctx{state, ChoiceNumbers(sink)};
  return graphRewrite(sink, streamMatcher(), {.name = "stream softmax", .ctx = ctx});
}

} // namespace uopscope::sched
