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
#include "engine/rules/softmax_sums.h"
#include "engine/schedule/choice_numbers.h"
#include "engine/schedule/opened_values.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

/// Replaces the parts of a stored value that a softmax makes by streamed sums, all of one weight.
class Streams {
public:
  explicit Streams(ScheduleState& state) : open_(state) {}

  /// The value with streamed sums; null if no softmax makes a part of it.
  UOp of(UOp value) {
    std::vector<UOp> parts;
    visitBelow(value, [&](UOp u) {
      const bool isRead = u.is(Op::INDEX) && u.src(0).is(Op::BUFFERIZE);
      if (isRead || u.is(Op::REDUCE)) parts.push_back(u);
      return u.in({Op::REDUCE, Op::INDEX, Op::BUFFERIZE}) ? Visit::Past : Visit::Below;
    });
    std::ranges::sort(parts, {}, &UOp::id);
    UOpMap<UOp> streamed;
    for (UOp part : parts)
      if (UOp sum = sumFor(part)) streamed[part] = sum.cast(part.dtype());
    if (streamed.empty()) return {};
    for (UOp part : parts) {
      if (streamed.contains(part)) continue;
      Opened trial = open_;
      const UOp opened = openedToMaximum(part, trial);
      if (!opened || maximumIn(opened) != largest_) continue;
      open_ = trial;
      streamed[part] = withMaximum(opened).cast(part.dtype());
    }
    return value.substitute(streamed);
  }
  /// Numbers of the stored values that are part of it now.
  const std::set<size_t>& stored() const { return open_.stored(); }

private:
  /// A sum that the weight, or a share of their total, takes part in.
  UOp sumFor(UOp part) {
    if (!isSum(part)) return {};
    Opened trial = open_;
    const UOp sum = trial(part);
    if (!sum.is(Op::REDUCE) || sum.arg().op() != Op::ADD || sum.srcCount() != 2 || !sum.src(1).is(Op::RANGE))
      return {};
    const UOp term = withoutCasts(sum.src(0)), key = sum.src(1);
    if (UOp found = sumOf(term, {}, key, trial)) return found;
    if (!term.is(Op::MUL)) return {};
    const UOp found = sumOf(term.src(0), term.src(1), key, trial);
    return found ? found : sumOf(term.src(1), term.src(0), key, trial);
  }
  /// Whether it is a sum, or the read of one: most parts of a schedule are neither.
  static bool isSum(UOp part) {
    const UOp value = withoutCasts(part.is(Op::INDEX) ? part.src(0).src(0) : part);
    return value.is(Op::REDUCE) ? value.arg().op() == Op::ADD : value.is(Op::INDEX);
  }
  UOp sumOf(UOp weighting, UOp factor, UOp key, Opened trial) {
    const UOp share = trial(weighting);
    UOp weight = inFloat(share), total;
    if (share.is(Op::FDIV)) {
      weight = inFloat(trial(share.src(0)));
      total = trial(share.src(1));
      const bool isTotal = total.is(Op::REDUCE) && total.arg().op() == Op::ADD && total.srcCount() == 2 &&
                           inFloat(trial(total.src(0))) == weight.substitute({{key, total.src(1)}});
      if (!isTotal) return {};
    }
    if (key_ ? weight.substitute({{key, key_}}) != weight_ : !begin(weight, key, trial)) return {};
    open_ = std::move(trial);
    const std::vector<UOp> keys{key_};
    const UOp summed =
        factor ? streamed_.alu(Op::MUL, {inFloat(factor).substitute({{key, key_}})}) : streamed_;
    const UOp sum = summed.reduce(Op::ADD, keys);
    return total ? sum.alu(Op::FDIV, {streamed_.reduce(Op::ADD, keys)}) : sum;
  }
  /// Takes the first weight as that of all sums, if its scores are products that are stored.
  bool begin(UOp weight, UOp key, Opened& trial) {
    SoftmaxSums read;
    if (!readWeight(weight, read)) return false;
    const UOp reference = openedToMaximum(read.reference, trial);
    if (!reference) return false;
    const UOp largest = maximumIn(reference);
    if (trial(largest.src(0)) != trial(read.score.substitute({{key, largest.src(1)}}))) return false;
    const UOp score = trial.score(read.score, key), all = trial.score(largest.src(0), largest.src(1));
    if (!score || !all || (vars::strictFloat && inFloat(score) != score)) return false;
    key_ = key;
    weight_ = weight;
    largest_ = largest;
    maximum_ = inFloat(all).reduce(Op::MAX, std::vector<UOp>{largest.src(1)});
    streamed_ =
        weight.substitute({{read.score, inFloat(score)}, {read.reference, inFloat(withMaximum(reference))}});
    return true;
  }
  /// The value in terms of the largest score of a row; null if it is no function of one such alone.
  static UOp openedToMaximum(UOp value, Opened& trial) {
    for (;;) {
      const UOp inside = maximumIn(value);
      if (!inside) return {};
      if (inside.is(Op::REDUCE))
        return inside.arg().op() == Op::MAX && inside.srcCount() == 2 ? value : UOp();
      const UOp opened = trial(inside);
      if (opened == withoutCasts(inside)) return {};
      value = value.substitute({{inside, opened.cast(inside.dtype())}});
    }
  }
  UOp withMaximum(UOp value) const { return value.substitute({{largest_, maximum_.cast(largest_.dtype())}}); }
  /// The one reduction, or read of a stored value, in a value.
  static UOp maximumIn(UOp reference) {
    std::vector<UOp> found;
    visitBelow(reference, [&](UOp u) {
      if (u.in({Op::INDEX, Op::REDUCE})) found.push_back(u);
      return u.in({Op::INDEX, Op::REDUCE}) ? Visit::Past : Visit::Below;
    });
    return found.size() == 1 ? found[0] : UOp();
  }

  Opened open_;
  UOp key_, weight_, largest_; ///< as they are stored
  UOp streamed_, maximum_;     ///< with the scores inside
};

/// Whether what these values are for, directly or through others, is one kernel alone.
class ReadAlone {
public:
  ReadAlone(const ScheduleState& state, int kernel) : state_(state), kernel_(kernel) {}

  bool operator()(size_t value) {
    const auto [known, isNew] = known_.try_emplace(value, true);
    if (!isNew) return known->second;
    const StoredValue& info = state_.stored[value];
    return known_[value] = info.removable && std::ranges::all_of(info.users, [&](int user) {
                             if (user == kernel_) return true;
                             for (size_t v = 0; v < state_.stored.size(); ++v)
                               if (state_.stored[v].kernel == user && !(*this)(v)) return false;
                             return true;
                           });
  }

private:
  const ScheduleState& state_;
  int kernel_;
  std::map<size_t, bool> known_;
};

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
  if (value.is(Op::CONTIGUOUS) && value.arg().kind() == ArgKind::Opts)
    return m.decline("its Opts are those of a product");
  Streams streams(state);
  const UOp streamed = streams.of(value);
  if (!streamed) return m.decline("no softmax weights a sum");
  if (info.kernel != static_cast<int>(number) || hasGuests(state, info.kernel) ||
      !std::ranges::all_of(streams.stored(), ReadAlone(state, info.kernel)))
    return m.decline("others read the scores or the weights, or the kernel stores other values too");
  std::vector<UOp> loops;
  for (UOp r : b.src().subspan(1))
    if (r.is(Op::RANGE)) loops.push_back(r);
  const auto sums = softmaxSumsOf(streamed, loops);
  if (!sums) return m.decline("rows, columns and keys are not apart, or there are few of them");

  double stored = 0, read = 0, scores = static_cast<double>(sums->key.vmax() + 1);
  for (size_t n : streams.stored()) stored += state.stored[n].elements * (kStore + kLoad) + kKernel;
  for (UOp l : sums->elsewhere) scores *= static_cast<double>(l.vmax() + 1);
  scores *= static_cast<double>(sums->row.vmax() + 1);
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
const KnownRules kStreamKnown(kStream);

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
