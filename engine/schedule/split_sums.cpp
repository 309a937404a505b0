// The rule "split-reduce": a long sum becomes a sum of sums over pieces of it, a kernel each.
//
//   sum of 16 Mi numbers       256 sums of 65,536 numbers, so that a machine has enough to do, and a sum of 256
//   a.T @ b of 8,192 terms     8 products of 1,024 terms, and a sum of 8: what a tile reads stays in the second cache
//
// A product is cut much earlier than another sum. Each row of tiles reads its operand's whole panel, which has a line for each term;
// from some 8,192 terms on that no longer fits, and each tile waits for memory. Where both operands have their terms outermost, as the
// gradient of a linear layer's weight has, the other operand is read in lines that lie apart as well, and 2,048 terms are enough.
#include "engine/base/context_var.h"
#include "engine/rules/movement_index.h"
#include "engine/schedule/operand_places.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace uopscope::sched {

namespace {

constexpr int64_t kSplitFrom = 32768; // input elements per output from which a reduction is split
constexpr int64_t kSplitLargest = 256, kSplitSmallest = 8;
constexpr int64_t kSplitOutputs = int64_t{1} << 22; // elements the first half may have

constexpr double kLongFrom = 8192, kLongFromApart = 2048;
constexpr double kPiece = 1024, kShortestPiece = 256, kLongestPiece = 4096; ///< terms
constexpr double kMostPieces = 1 << 24; ///< elements of all pieces, from which on they get longer
constexpr double kLongTerms = 0.5;      ///< what an iteration loses by an operand that no cache holds

/// The axes of a node along which EXPAND repeats its base; margins of a PAD do not count.
std::vector<bool> axesRepeatingBase(UOp u) {
  const std::vector<UOp> loops = loopsOver(u.shape());
  std::vector<UOp> at = loops;
  for (; u.in(group::kMovement); u = u.src(0)) at = movementIndices(u, at);
  return axesNotIn(at, loops);
}

/// A reduction whose longest axis has no divisor of at most `largest`: over a part of it that has one, and over the few steps
/// that are left. Null where too few are in the part, and where it would have none either.
UOp withoutRest(UOp r, const std::vector<bool>& repeated, int64_t largest) {
  constexpr int64_t kWhole = 64, kFewest = 8 * kWhole;
  if (largest < kSplitSmallest) return {};
  const UOp s = r.src(0);
  const auto& arg = r.arg().as<ReduceArg>();
  size_t k = s.shape().size();
  for (int64_t axis : arg.axes)
    if (const auto at = static_cast<size_t>(axis);
        !repeated[at] && (k == s.shape().size() || s.shape()[at].i() > s.shape()[k].i()))
      k = at;
  if (k == s.shape().size() || s.shape()[k].i() < kFewest) return {};
  const int64_t n = s.shape()[k].i();
  auto over = [&](int64_t from, int64_t to) {
    Shape begin(s.shape().size(), Sint(0)), end = s.shape();
    begin[k] = Sint(from), end[k] = Sint(to);
    const UOp part = UOp::make(Op::SHRINK, s.dtype(), {s, shapeToUOp(begin), shapeToUOp(end)});
    return UOp::make(Op::REDUCE_AXIS, r.dtype(), {part}, r.arg());
  };
  return over(0, n / kWhole * kWhole).alu(arg.op, {over(n / kWhole * kWhole, n)});
}

/// A sum of two terms that two indices scatter, such as the gradient of rows that are looked up twice: two sums, each of which a
/// loop carries. Null for other sums.
UOp scatteredApart(UOp r) {
  const UOp term = r.src(0);
  if (!term.is(Op::ADD) || r.arg().as<ReduceArg>().op != Op::ADD || isCarried(r)) return {};
  const UOp left = r.withSrc({term.src(0)}), right = r.withSrc({term.src(1)});
  return isCarried(left) && isCarried(right) ? left + right : UOp();
}

/// sum(x) -> sum(sum of `divisor` pieces along the axis). The parts come first: the kernel takes one after the other, so what a part
/// reads stays in the cache.
UOp inPieces(UOp r, size_t axis, int64_t divisor) {
  const UOp s = r.src(0);
  const Shape& in = s.shape();
  const auto& arg = r.arg().as<ReduceArg>();
  Shape split;
  std::vector<int64_t> order{static_cast<int64_t>(axis)}, axes;
  for (size_t i = 0; i < in.size(); ++i) {
    if (i == axis)
      split.insert(split.end(), {Sint(divisor), Sint(in[i].i() / divisor)});
    else
      split.push_back(in[i]);
  }
  for (size_t i = 0; i < split.size(); ++i)
    if (i != axis) order.push_back(static_cast<int64_t>(i));
  for (int64_t summed : arg.axes) axes.push_back(summed + 1);
  UOp pieces = UOp::make(Op::RESHAPE, s.dtype(), {s, shapeToUOp(split)});
  pieces = UOp::make(Op::PERMUTE, s.dtype(), {pieces}, Arg::of(order));
  UOp first = UOp::make(Op::REDUCE_AXIS, r.dtype(), {pieces}, Arg::of(ReduceArg{arg.op, axes}));
  first = UOp::make(Op::CONTIGUOUS, r.dtype(), {first});
  const UOp second = UOp::make(Op::REDUCE_AXIS, r.dtype(), {first}, Arg::of(ReduceArg{arg.op, {0}}));
  return UOp::make(Op::RESHAPE, r.dtype(), {second, shapeToUOp(r.shape())});
}

/// Whether neighbours in an operand's memory are operands of different results, and terms of one result lie apart.
bool hasTermsApart(UOp operand, const std::vector<int64_t>& terms) {
  for (UOp u = operand; u.in(group::kMovement); u = u.src(0))
    if (!u.in({Op::RESHAPE, Op::PERMUTE, Op::EXPAND})) return false;
  const std::vector<int64_t> distances = distancesIn(baseOf(operand), operand);
  bool isBesideResults = false;
  for (size_t k = 0; k < distances.size(); ++k) {
    if (distances[k] != 1 || operand.shape()[k].i() == 1) continue;
    if (std::ranges::find(terms, static_cast<int64_t>(k)) != terms.end()) return false;
    isBesideResults = true;
  }
  return isBesideResults;
}

/// Whether an operand differs from term to term, as that of a product does.
bool isOfProduct(UOp operand, const std::vector<int64_t>& terms) {
  if (!sourceOf(operand).hasShape()) return false;
  const std::vector<bool> repeated = axesRepeatingBase(operand);
  return std::ranges::any_of(terms, [&](int64_t axis) { return !repeated[static_cast<size_t>(axis)]; });
}

/// Whether an operand at these indices is an exponential of what the largest of all terms is subtracted from: the weights of a softmax,
/// which a streamed sum ("stream softmax") makes from term to term. `left`: of nodes to look at.
bool isSoftmaxWeight(UOp u, std::vector<UOp> at, const std::vector<UOp>& terms, bool isInExponent,
                     int& left) {
  for (; u.in(group::kMovement); u = u.src(0)) at = movementIndices(u, at);
  if (u.is(Op::REDUCE_AXIS))
    return isInExponent && u.arg().as<ReduceArg>().op == Op::MAX &&
           std::ranges::all_of(axesNotIn(at, terms), [](bool isUnread) { return isUnread; });
  if (--left <= 0 || !u.in(group::kElementwise)) return false;
  return std::ranges::any_of(
      u.src(), [&](UOp s) { return isSoftmaxWeight(s, at, terms, isInExponent || u.is(Op::EXP2), left); });
}
bool isSoftmaxWeight(UOp operand, const std::vector<int64_t>& axes) {
  int left = 64;
  const std::vector<UOp> loops = loopsOver(operand.shape());
  std::vector<UOp> terms;
  for (int64_t axis : axes) terms.push_back(loops[static_cast<size_t>(axis)]);
  return isSoftmaxWeight(operand, loops, terms, false, left);
}

/// A product cut along one of its axes.
struct Cut {
  size_t axis;
  int64_t divisor;
  double stored, whole; ///< prices of the pieces, and of what the iterations lose without them
};

/// Where a product is cut so that its operands stay in a cache; nothing for one that is short, or has no divisor that suits.
std::optional<Cut> cutOfProduct(UOp r) {
  const auto& arg = r.arg().as<ReduceArg>();
  UOp term = r.src(0);
  while (term.is(Op::CAST)) term = term.src(0);
  if (arg.op != Op::ADD || !term.is(Op::MUL) || !isProcessor(r.device())) return {};
  const double results = elementCount(r.shape()), iterations = elementCount(term.shape()),
               terms = iterations / results;
  if (terms < kLongFromApart) return {};
  for (UOp operand : term.src())
    if (!isOfProduct(operand, arg.axes) || !isReused(operand, iterations) ||
        isSoftmaxWeight(operand, arg.axes))
      return {};
  const bool isApart =
      std::ranges::all_of(term.src(), [&](UOp operand) { return hasTermsApart(operand, arg.axes); });
  const double longFrom = isApart ? kLongFromApart : kLongFrom;
  if (terms < longFrom) return {};
  const double wanted = std::clamp(terms * results / kMostPieces, kPiece, kLongestPiece);
  std::optional<Cut> found; // of pieces that would be cut again, if another axis has none that would not
  for (int64_t axis : arg.axes) {
    const int64_t steps = term.shape()[static_cast<size_t>(axis)].i();
    int64_t best = 1;
    const auto lengthOf = [&](int64_t divisor) { return terms / static_cast<double>(divisor); };
    for (int64_t d = 2; d <= steps && lengthOf(d) >= kShortestPiece; ++d)
      if (steps % d == 0 &&
          std::abs(std::log(lengthOf(d) / wanted)) < std::abs(std::log(lengthOf(best) / wanted)))
        best = d;
    if (best == 1 || lengthOf(best) > kLongestPiece) continue;
    const double pieces = results * static_cast<double>(best);
    const Cut cut{static_cast<size_t>(axis), best,
                  storing(pieces, pieces * r.dtype().itemsize(), 1) + pieces * kStepOfSum + kKernel,
                  iterations * kLongTerms};
    if (lengthOf(best) < longFrom) return cut;
    if (!found) found = cut;
  }
  return found;
}

} // namespace

/// sum(x) of many elements -> sum(sum of `divisor` pieces): the first sum has enough outputs to keep a
/// machine busy.
UOp splitSum(Match& m) {
  UOp r = m.root(), s = r.src(0);
  if (UOp apart = vars::plain ? UOp() : scatteredApart(r)) {
    because([] { return Decision{"two indices scatter its terms: a loop carries each sum by itself"}; });
    return apart;
  }
  if (!vars::splitReduceop || !allInt(s.shape()))
    return m.decline("SPLIT_REDUCEOP is 0, or the shape is symbolic");
  const Shape& in = s.shape();
  int64_t inSize = prod(in).i();
  const int64_t outSize = prod(r.shape()).i();
  const auto cut = vars::plain || outSize == 0 ? std::nullopt : cutOfProduct(r);
  const bool isCut = cut && cut->stored < cut->whole;
  if (outSize == 0 || (!isCut && inSize / outSize < kSplitFrom))
    return m.decline("the sum is shorter than a split pays for");
  if (outSize > 1 && !r.below().has(Op::BUFFER))
    return m.decline("several sums that read no memory may have a closed form");
  if (!vars::plain && isCarried(r)) return m.decline("one loop carries all of its results");
  const auto& arg = r.arg().as<ReduceArg>();
  std::vector<bool> skipped = axesRepeatingBase(s);
  const std::vector<bool> lookedUp = vars::plain ? std::vector<bool>(in.size()) : axesLookedUp(r);
  for (size_t k = 0; k < in.size(); ++k) {
    if (!lookedUp[k]) continue;
    skipped[k] = true;
    inSize /= std::max<int64_t>(1, in[k].i());
  }
  if (isCut && std::ranges::find(lookedUp, true) == lookedUp.end()) {
    because([&] {
      return Decision{fmt::format("a product in {} pieces: what each reads stays in a cache", cut->divisor),
                      cut->stored,
                      kPriceUnit,
                      {{"in one", cut->whole}}};
    });
    return inPieces(r, cut->axis, cut->divisor);
  }
  if (inSize / outSize < kSplitFrom) return m.decline("an index says which term it is: it becomes a read");
  const int64_t largest = std::min(kSplitLargest, kSplitOutputs / outSize);
  for (int64_t axis : arg.axes) {
    auto k = static_cast<size_t>(axis);
    if (skipped[k]) continue;
    for (int64_t divisor = largest; divisor >= kSplitSmallest; --divisor) {
      if (in[k].i() % divisor) continue;
      return inPieces(r, k, divisor);
    }
  }
  if (vars::plain) return m.decline("no axis has a divisor that suits");
  if (UOp apart = withoutRest(r, skipped, largest)) return apart;
  return m.decline("no axis has a divisor that suits");
}

} // namespace uopscope::sched
