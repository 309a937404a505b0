// remove_reduce: a REDUCE becomes an accumulator in registers, a loop that updates it, and its value after
// the loop.
//
//   REDUCE(v, r) ADD   ->   acc = DEFINE_REG;  INDEX(AFTER(acc, END(STORE(acc, INDEX(acc) + v), r)))
//
// More lanes may come in than go out: the surplus is reduced across. Where the result has few lanes each
// incoming lane keeps an accumulator of its own and they are joined after the loop, so the loop is not one
// chain of dependent operations; where it has many, lanes are joined inside the loop, so accumulators stay in
// registers.
//
// A product that a sum adds up becomes a MULACC, which rounds once, where the target has that operation. Sums
// are the one place of it: the order of a sum is the kernel's own choice already, and its value is stored
// once. Everywhere else each operation rounds, so that two kernels that compute an expression agree to the
// bit.
#pragma once
#include "engine/codegen/target.h"
#include "engine/rewrite/matcher.h"

namespace uopscope {

/// Context of the pass: the target, and the numbers of the accumulators.
struct ReduceContext {
  const Target& target;
  int64_t accumulators = 0;
};
std::span<const RuleDef> reduceRules();

/// The one REDUCE of a kernel that is one loop without memory of its own, in `sum`; else the reason why there is none.
const char* onlyReduce(UOp sink, UOp& sum);

/// The value that leaves an operation as it is: 0 for ADD, the lowest for MAX ...; all lanes of dtype.
UOp identityElement(Op op, DType dtype);

/// Loops that close the same range more than once: independent ones become one loop over all their bodies,
/// others get a range of their own. Returns the graph with every RANGE closed by one END.
UOp closeRangesOnce(UOp sink);
/// The same as a rule on SINK.
std::span<const RuleDef> closeRangesRules();

} // namespace uopscope
