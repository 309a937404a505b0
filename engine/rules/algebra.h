// Questions and small operations on integer expressions. All work in the current pool.
//
//   simplify(r0*4 + r0)          r0*5
//   *divides(r0*6 + 12, 3)       r0*2+4
//   resolve(Sint(n) < 10, false) whether it holds for every value of n; `false` if that is not known
#pragma once
#include "engine/uop/linear.h"
#include "engine/uop/sint.h"

#include <map>
#include <optional>
#include <string>

namespace uopscope {

/// The expression under symbolic(), not recorded by any observer. Constants return at once.
UOp simplify(UOp u);
Sint simplify(const Sint& s);
Shape simplify(const Shape& shape);
/// The int it comes to, if it does.
std::optional<int64_t> constantOf(UOp u);

/// Whether a condition holds: its value where that is certain, else `fallback`.
bool resolve(UOp condition, bool fallback = true);
bool resolve(bool condition, bool fallback = true);
/// Comparisons to resolve(); certain where the bounds are.
UOp lessThan(const Sint& a, const Sint& b);

/// The largest known int that divides the expression (0 for the constant 0).
int64_t constFactor(UOp u);
/// u/d where d divides every term for sure, else null.
UOp divides(UOp u, int64_t d);
/// The same for any divisor.
UOp divideExact(UOp u, UOp divisor);
/// {rest, constant} of rest + constant (of rest * constant for MUL).
std::pair<UOp, int64_t> popConst(UOp u, Op op = Op::ADD);
/// Operands of a nest of one associative operation, left to right.
std::vector<UOp> splitUop(UOp u, Op op);
/// The other way: joined from the left; `none` for no operands.
UOp joinUop(std::span<const UOp> operands, Op op, UOp none);
/// Greatest common divisor as far as known: common factors and the gcd of constants.
UOp gcd(std::span<const UOp> u);
/// Whether the value never falls when a variable in it rises.
bool isIncreasing(UOp u);

/// Value for given variables; throws Error(Key) naming a variable that has none.
int64_t symInfer(UOp u, const std::map<std::string, int64_t>& vars);
int64_t symInfer(const Sint& s, const std::map<std::string, int64_t>& vars);
/// Value of any expression of constants, variables, ranges and arithmetic; none where a node has no value.
using Binding = UOpMap<ConstValue>;
std::optional<ConstValue> evaluate(UOp u, const Binding& leaves);

/// `u` under the assumption that `valid` holds.
UOp givenValid(UOp valid, UOp u, bool trySimplex = true);
/// index of WHERE(valid, index, Invalid), and valid (true where there is no gate).
UOp indexOf(UOp gated);
UOp validOf(UOp gated);

} // namespace uopscope
