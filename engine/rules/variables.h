// The pattern variables that rules of several files share.
//
//   RULE("add-zero", x + 0, x)
#pragma once
#include "engine/rewrite/rule.h"

namespace uopscope::rules {

inline constexpr PatVar x{"x"}, y{"y"}, z{"z"}, w{"w"};
inline constexpr PatVar at{"at"}, value{"value"}, buffer{"buffer"}, inner{"inner"};
inline constexpr PatVar c0{"c0", PatVar::Const}, c1{"c1", PatVar::Const}, c2{"c2", PatVar::Const};
inline constexpr PatVar xi{"x", PatVar::Index}, yi{"y", PatVar::Index}; ///< of dtype index
inline constexpr PatVar xn{"x", PatVar::Ints}, yn{"y", PatVar::Ints};   ///< of any integer type or index
inline constexpr PatVar xf{"x", PatVar::Floats}, yf{"y", PatVar::Floats};
inline constexpr PatVar xb{"x", PatVar::Bool}, yb{"y", PatVar::Bool}, cond{"cond", PatVar::Bool};

/// Of an integer type whose sums and products wrap.
inline constexpr Pat xWrap = Pat(x).withDtype(kMaskInts & ~kMaskIndex);

/// Invalid, and a gated index.
inline constexpr Pat kInvalid = pat::any(Op::CONST).withArg(Arg::invalid());
inline constexpr Pat kGated = pat::where(cond, x, kInvalid);

inline bool isInt(UOp u) {
  return u && u.isConst() && u.arg().kind() == ArgKind::Int;
}
inline int64_t intOf(UOp u) {
  return u.arg().i();
}
inline bool isScalarIndex(UOp u) {
  return u.dtype() == dtypes::index;
}

} // namespace uopscope::rules
