// Builds results from data: one function for each way to make a node (Making).
#include "engine/rewrite/result.h"

#include "engine/rewrite/replacement.h"
#include "engine/uop/eval.h"
#include "engine/uop/shape.h"

#include <cmath>

namespace uopscope {

namespace {

constexpr OpSet kEffects{Op::GROUP, Op::SINK, Op::NOOP, Op::STORE, Op::END};

bool isNothing(UOp u) {
  return u.is(Op::NOOP) && u.srcCount() == 0;
}

ConstValue numberAs(DType d, double number) {
  constexpr double kLimit = 9.2e18;
  bool whole = std::fabs(number) < kLimit && number == std::trunc(number);
  return whole && !d.isFloat() ? ConstValue::ofInt(static_cast<int64_t>(number))
                               : ConstValue::ofFloat(number);
}

/// The operation evaluated on constants; null, with the reason, if an operand is no constant.
UOp folded(Op op, DType type, std::span<const UOp> operands, Match& m) {
  UOp c = evalConstants(op, type, operands);
  return c ? c : m.decline("Invalid, or a lane that differs, is no number to fold");
}

class Builder {
public:
  Builder(const Pat& result, const ResultOf& of) : result_(result), of_(of) {}

  UOp build(size_t at) {
    const PatNode& n = result_.nodes[at];
    if (n.literal) return UOp::constant(of_.root.dtype(), numberAs(of_.root.dtype(), n.number));
    if (!n.childCount) return leaf(n);
    std::array<UOp, PatNode::kMaxChildren> room;
    if (UOp early; !operands(n, room, early)) return early;
    std::span<const UOp> src(room.data(), n.childCount);
    if (n.tensors)
      if (UOp u; withNothing(n, room, u)) return u;
    switch (n.making) {
    case Making::ToRoot: return converted(n, src[0], of_.root.dtype());
    case Making::ToVar: return converted(n, src[0], binding(n).dtype());
    case Making::ToType:
      return converted(n, src[0], DType::fromBits(n.exactDtype).vec(src[0].dtype().count()));
    case Making::SameOp: return arithmetic(n, of_.root.op(), src);
    case Making::Alike: return (n.var < 0 ? of_.root : binding(n)).withSrc(src);
    case Making::First: return withFirst(n.var < 0 ? of_.root : binding(n), src);
    case Making::Sources: return answers(src);
    default: return arithmetic(n, n.ops.first(), src);
    }
  }

private:
  UOp binding(const PatNode& n) const { return of_.binds[static_cast<size_t>(n.var)]; }

  UOp leaf(const PatNode& n) {
    switch (n.making) {
    case Making::Entry: return of_.match ? entryOf(*of_.match) : UOp();
    case Making::Accepted: return of_.match ? accepted() : UOp();
    case Making::Call: return of_.match ? result_.calls[n.call](*of_.match) : UOp();
    case Making::Sources: return answers({});
    default: break;
    }
    if (n.var >= 0) return binding(n);
    return n.ops == OpSet(Op::NOOP) ? UOp::make(Op::NOOP, dtypes::void_) : UOp::invalid();
  }

  /// Builds the operands of a node. Numbers are built last, since their dtype is that of the remaining
  /// operands. Returns false if the node needs no operands: `early` is then its result.
  bool operands(const PatNode& n, std::array<UOp, PatNode::kMaxChildren>& src, UOp& early) {
    bool isProduct = n.tensors && n.making == Making::Plain && OpSet{Op::MUL, Op::FDIV}.contains(n.ops);
    for (uint8_t k = 0; k < n.childCount; ++k) {
      if (result_.nodes[n.children[k]].literal) continue;
      src[k] = build(n.children[k]);
      if (!src[k]) return false;
      if (isProduct && isNothing(src[k])) {
        early = src[k];
        return false;
      }
    }
    for (uint8_t k = 0; k < n.childCount; ++k)
      if (const PatNode& child = result_.nodes[n.children[k]]; child.literal)
        src[k] = number(n, k, src, child.number);
    return true;
  }

  /// A number with the dtype of the operand beside it; in a WHERE, of the other branch.
  UOp number(const PatNode& parent, uint8_t position, std::span<const UOp> src, double value) {
    bool isWhere = parent.ops == OpSet(Op::WHERE);
    UOp like = of_.root;
    for (uint8_t k = isWhere ? 1 : 0; k < parent.childCount; ++k)
      if (!result_.nodes[parent.children[k]].literal) {
        like = src[k];
        break;
      }
    if (isWhere && position == 0) return UOp::boolean(value != 0);
    if (parent.tensors && !isNothing(like)) return constantLike(like, numberAs(like.dtype(), value));
    return UOp::constant(like.dtype(), numberAs(like.dtype(), value));
  }

  UOp converted(const PatNode& n, UOp from, DType type) {
    if (n.fold && of_.match) return folded(n.ops.first(), type, std::span(&from, 1), *of_.match);
    return n.ops == OpSet(Op::BITCAST) ? from.bitcast(type) : from.cast(type);
  }

  UOp arithmetic(const PatNode& n, Op op, std::span<const UOp> src) {
    if (kEffects.has(op)) return UOp::make(op, dtypes::void_, src);
    if (!group::kAlu.has(op)) return UOp::make(op, src[0].dtype(), src);
    UOp made = src[0].alu(op, src.subspan(1));
    return n.fold && of_.match ? folded(op, made.dtype(), src, *of_.match) : made;
  }

  static UOp withFirst(UOp u, std::span<const UOp> first) {
    std::vector<UOp> src(u.src().begin(), u.src().end());
    std::copy(first.begin(), first.end(), src.begin());
    return u.withSrc(src);
  }

  UOp answers(std::span<const UOp> first) {
    std::vector<UOp> each(first.begin(), first.end());
    each.resize(std::max(each.size(), of_.root.srcCount()), UOp::make(Op::NOOP, dtypes::void_));
    return UOp::make(Op::GROUP, dtypes::void_, each);
  }

  /// Handles operands that are nothing(), as pat::tensors defines; returns true if `answer` is the result.
  static bool withNothing(const PatNode& n, std::array<UOp, PatNode::kMaxChildren>& src, UOp& answer) {
    if (n.making == Making::Sources) return false;
    bool isWhere = n.ops == OpSet(Op::WHERE), isSum = n.ops == OpSet(Op::ADD);
    if (!isWhere && !isSum) {
      answer = *std::find_if(src.begin(), src.begin() + n.childCount - 1, isNothing);
      return isNothing(answer);
    }
    UOp &a = src[isWhere ? 1 : 0], &b = src[isWhere ? 2 : 1];
    if (!isNothing(a) && !isNothing(b)) return false;
    if (isSum || (isNothing(a) && isNothing(b))) {
      answer = isNothing(a) ? b : a;
      return true;
    }
    UOp zero = constantLike(isNothing(a) ? b : a, ConstValue::ofInt(0));
    (isNothing(a) ? a : b) = zero;
    return false;
  }

  const Pat& result_;
  const ResultOf& of_;
};

} // namespace

UOp buildResult(const Pat& result, const ResultOf& of) {
  // Most results are a single variable, or the answer of a spec, and are built millions of times.
  const PatNode& top = result.root();
  if (top.making == Making::Accepted && of.match) return accepted();
  if (!top.childCount && top.var >= 0) return of.binds[static_cast<size_t>(top.var)];
  return Builder(result, of).build(result.count - 1u);
}

} // namespace uopscope
