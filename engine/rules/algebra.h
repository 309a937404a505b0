// Questions about integer expressions, and small operations on them. All of them work in the current pool.
//
//   simplify(r0*4 + r0)          r0*5
//   *divides(r0*6 + 12, 3)       r0*2+4
//   resolve(Sint(n) < 10, false) true if n < 10 for every value of n; `false` if that is unknown
#pragma once
#include "engine/uop/linear.h"
#include "engine/uop/sint.h"

#include <map>
#include <optional>
#include <string>

namespace uopscope {

/// The expression after symbolic(). Constants return at once.
UOp simplify(UOp u);
Sint simplify(const Sint& s);
Shape simplify(const Shape& shape);
/// The int that the expression simplifies to; none if it is no constant.
std::optional<int64_t> constantOf(UOp u);

/// The value of a condition if it is certain, else `fallback`.
bool resolve(UOp condition, bool fallback = true);
bool resolve(bool condition, bool fallback = true);
/// Comparisons, as conditions for resolve().
UOp lessThan(const Sint& a, const Sint& b);

/// An int that divides the expression, read off its form: of a sum the greatest that divides all terms, of a
/// product its constant (0 for the constant 0). It is the largest that is known if the expression is
/// simplified.
int64_t constFactor(UOp u);
/// u/d if d certainly divides every term, else null.
UOp divides(UOp u, int64_t d);
/// The same for any divisor.
UOp divideExact(UOp u, UOp divisor);
/// {rest, constant} with u == rest + constant (for MUL: u == rest * constant).
std::pair<UOp, int64_t> popConst(UOp u, Op op = Op::ADD);
/// The operands of a nest of one associative operation, left to right.
std::vector<UOp> splitUop(UOp u, Op op);
/// The inverse of splitUop: operands joined from the left; `none` for no operands.
UOp joinUop(std::span<const UOp> operands, Op op, UOp none);
/// The greatest common divisor as far as it is known: common factors and the gcd of constants.
UOp gcd(std::span<const UOp> u);
/// Whether the value never decreases when a variable in it increases.
bool isIncreasing(UOp u);

/// The value for given variables. Throws Error(Key) naming a variable without a value.
int64_t symInfer(UOp u, const std::map<std::string, int64_t>& vars);
int64_t symInfer(const Sint& s, const std::map<std::string, int64_t>& vars);
/// The value of an expression of constants, variables, ranges and arithmetic; none if a node has no value.
using Binding = UOpMap<ConstValue>;
std::optional<ConstValue> evaluate(UOp u, const Binding& leaves);

/// `u`, simplified under the assumption that `valid` holds.
UOp givenValid(UOp valid, UOp u, bool trySimplex = true);
/// The index of WHERE(valid, index, Invalid), and its `valid` (true if there is no gate).
UOp indexOf(UOp gated);
UOp validOf(UOp gated);

} // namespace uopscope
