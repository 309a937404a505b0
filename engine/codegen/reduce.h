// The pass "remove_reduce". A REDUCE becomes an accumulator in registers, a loop that updates it, and a read
// of its value after the loop.
//
//   REDUCE(v, r) ADD   ->   acc = DEFINE_REG;  INDEX(AFTER(acc, END(STORE(acc, INDEX(acc) + v), r)))
//
// The source of a REDUCE may have more lanes than its result; the surplus is reduced across. If the result
// has few lanes, each lane of the source keeps an accumulator of its own, and these are combined after the
// loop, so the loop is not one chain of dependent operations. If it has many lanes, they are combined inside
// the loop, so the accumulators stay in registers.
//
// A product added to a sum becomes a MULACC, which rounds once, where the target has that operation. This is
// the only place that does so for tensors: a kernel chooses the order of its sums anyway, and the value of a
// sum is stored once. Everywhere else each operation rounds, so two kernels that compute the same expression
// agree to the bit.
#pragma once
#include "engine/codegen/target.h"
#include "engine/rewrite/matcher.h"

namespace uopscope {

/// The context of the pass: the target, and the number of the next accumulator.
struct ReduceContext {
  const Target& target;
  int64_t accumulators = 0;
};
std::span<const RuleDef> reduceRules();

/// Finds the one REDUCE, in `sum`, of a kernel that is one loop nest, of one or several stores, without memory of its own; else returns
/// the reason why there is none.
const char* onlyReduce(UOp sink, UOp& sum);

/// The value that leaves the result unchanged, in all lanes of dtype: 0 for ADD, the lowest value for MAX ...
UOp identityElement(Op op, DType dtype);

/// Repairs ranges that several ENDs close. Independent loops over a range become one loop with all their
/// bodies; dependent loops get ranges of their own. Returns the graph with every RANGE closed by one END.
UOp closeRangesOnce(UOp sink);
/// The same as a rule on SINK.
std::span<const RuleDef> closeRangesRules();

} // namespace uopscope
