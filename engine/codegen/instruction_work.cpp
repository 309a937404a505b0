// The weights count instructions of x86-64 for an operation, as LLVM selects them (docs/design/prediction.md).
#include "engine/codegen/instruction_work.h"

#include "engine/codegen/access_traffic.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/machine_functions.h"
#include "engine/codegen/tile_cores.h"

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {

constexpr double kGate = 2;             ///< a branch around an access, and the choice behind it
constexpr double kLoop = 2;             ///< a counter's addition, and the branch
constexpr double kWideProduct = 3;      ///< a product of vectors of 64-bit integers
constexpr double kIntegerDivision = 10; ///< cycles of a division of integers, in scalar operations
constexpr double kStride = 0.25;        ///< an addition inside an address: most are part of an access
constexpr double kSquareRoot = 1.3;     ///< in divisions
constexpr double kFunction = 20;        ///< a function that the target has: a call

/// Whether a vector's lanes are those of one or two others.
bool isShuffle(UOp u) {
  UOp first, second;
  for (UOp s : u.src()) {
    if (!s.is(Op::GEP) || s.arg().ints().size() != 1) return false;
    const UOp from = s.src(0);
    if (!first) first = second = from;
    if (second == first) second = from;
    if (from != first && from != second) return false;
  }
  return true;
}
bool isLinear(UOp u) {
  return u.is(Op::ADD) || u.is(Op::CAST) || ((u.is(Op::MUL) || u.is(Op::SHL)) && u.src(1).isConst());
}

} // namespace

void Work::operator+=(const Work& o) {
  multiplies += o.multiplies, additions += o.additions;
  divisions += o.divisions, scalarDivisions += o.scalarDivisions;
  shuffles += o.shuffles, loads += o.loads, stores += o.stores, scalars += o.scalars;
  loops += o.loops, vector |= o.vector;
}
Work Work::inLanes(double lanes) const {
  Work w = *this;
  w.multiplies /= lanes, w.scalars /= lanes, w.loads /= lanes, w.stores /= lanes, w.loops /= lanes;
  w.additions /= lanes;
  w.divisions = (w.divisions + w.scalarDivisions) / lanes;
  w.scalarDivisions = 0;
  return w;
}
double Work::instructions() const {
  return multiplies + additions + divisions + scalarDivisions + shuffles + loads + stores + scalars + loops;
}

InstructionWork::InstructionWork(std::span<const UOp> program, int registerLanes)
    : registerBytes_(4.0 * registerLanes) {
  UOpMap<bool> value; // needed as a value: by a store, or by arithmetic that ends in one
  for (size_t i = program.size(); i-- > 0;) {
    const UOp u = program[i];
    if (u.is(Op::STORE)) value[u.src(1)] = true;
    if (u.is(Op::INDEX) || u.is(Op::RANGE) || u.is(Op::END) || u.is(Op::IF)) continue;
    if (u.is(Op::LOAD) && u.srcCount() > 1) value[u.src(1)] = true;
    if (value.contains(u) && !u.is(Op::LOAD))
      for (UOp s : u.src()) value[s] = true;
    if (u.in(group::kAlu) && !value.contains(u)) address_[u] = true;
  }
  for (UOp u : program) {
    if (!u.is(Op::VECTORIZE) || !isShuffle(u))
      for (UOp s : u.src())
        if (s.is(Op::GEP)) extracted_[s] = true;
    if (!u.is(Op::LOAD) && !u.is(Op::STORE)) continue;
    const UOp index = accessIndex(u);
    const UOp buffer = index.bufferOf();
    if (index.is(Op::INDEX) && buffer.is(Op::DEFINE_REG) && !index.src(1).isConst()) spilled_[buffer] = true;
  }
}

double InstructionWork::registersOf(DType type) const {
  return std::max(1.0, std::ceil(type.count() * std::max(1, type.scalar().itemsize()) / registerBytes_));
}

bool InstructionWork::inRegisters(UOp access) const {
  const UOp buffer = accessIndex(access).bufferOf();
  return buffer.is(Op::DEFINE_REG) && !spilled_.contains(buffer);
}

Work InstructionWork::vectorize(UOp u) const {
  const bool constant = std::ranges::all_of(u.src(), [](UOp s) { return s.isConst(); });
  const bool same = std::ranges::all_of(u.src(), [&](UOp s) { return s == u.src(0); });
  if (constant) return {};
  if (same) return {.shuffles = u.src(0).is(Op::LOAD) ? 0.0 : 1.0}; // a load repeats it on the way
  if (isShuffle(u)) return {.shuffles = registersOf(u.dtype()) * 2};
  return {.shuffles = static_cast<double>(u.srcCount()) * 1.25}; // one by one, then quarters together
}

Work InstructionWork::arithmetic(UOp u) const {
  const DType type = u.dtype(), operand = u.srcCount() > 1 ? u.src(1).dtype() : u.src(0).dtype();
  const bool vector = type.count() > 1, isFloat = operand.isFloat() || type.isFloat();
  if (address_.contains(u) && !vector && isLinear(u)) return {.scalars = kStride};
  const double n = std::max(registersOf(type), vector ? registersOf(operand) : 1);
  switch (u.op()) {
  case Op::FDIV:
  case Op::RECIPROCAL:
  case Op::SQRT: {
    const double times = (u.is(Op::SQRT) ? kSquareRoot : 1) * (type.scalar().itemsize() > 4 ? 2 : 1);
    return vector ? Work{.divisions = n * times} : Work{.scalarDivisions = times};
  }
  case Op::IDIV:
  case Op::MOD: return {.scalars = kIntegerDivision * type.count()};
  case Op::EXP2:
  case Op::LOG2:
  case Op::SIN:
  case Op::POW:
  case Op::THREEFRY: return {.additions = kFunction * n};
  case Op::MULACC: return {.multiplies = n};
  case Op::MUL:
    if (isFloat) return {.multiplies = n};
    return vector ? Work{.multiplies = n * (type.scalar().itemsize() > 4 ? kWideProduct : 1)}
                  : Work{.scalars = 1};
  default: return isFloat || vector ? Work{.additions = n} : Work{.scalars = 1};
  }
}

Work InstructionWork::of(UOp u) const {
  Work w = unitsOf(u);
  const DType type = u.is(Op::STORE) ? u.src(1).dtype() : u.dtype();
  w.vector = !type.isPtr() && !u.is(Op::VECTORIZE) && type.count() > 1;
  return w;
}

Work InstructionWork::unitsOf(UOp u) const {
  switch (u.op()) {
  case Op::RANGE: return {.loops = kLoop};
  case Op::IF: return {.scalars = 1};
  case Op::LOAD:
  case Op::STORE: {
    if (inRegisters(u)) return {};
    const DType type = u.is(Op::LOAD) ? u.dtype() : u.src(1).dtype();
    const UOp index = accessIndex(u);
    const bool gated = index.is(Op::INDEX) && index.srcCount() > 2;
    const double n = registersOf(type), gate = gated ? kGate : 0;
    return u.is(Op::LOAD) ? Work{.loads = n, .scalars = gate} : Work{.stores = n, .scalars = gate};
  }
  case Op::GEP:
    if (!extracted_.contains(u) || u.src(0).dtype().count() == 1) return {};
    if (u.arg().ints().size() == 1) return {.shuffles = u.arg().ints()[0] == 0 ? 0.0 : 1.0};
    return {.shuffles = registersOf(u.dtype())};
  case Op::VECTORIZE: return vectorize(u);
  case Op::CAST: {
    const DType to = u.dtype(), from = u.src(0).dtype();
    if (to.isPtr() || (to.count() == 1 && to.isInt() && !from.isFloat())) return {};
    const double n = std::max(registersOf(to), registersOf(from));
    return {.additions = n, .shuffles = to.scalar().itemsize() == from.scalar().itemsize() ? 0 : n};
  }
  default:
    if (isDotProduct(u)) return {.multiplies = registersOf(u.dtype())};
    if (machineFunctionOf(u)) return {.multiplies = registersOf(u.dtype())};
    // A tile product begins every 16 cycles, in each of which two multiplications would begin.
    if (isTileProduct(u)) return {.multiplies = 32};
    return u.in(group::kAlu) ? arithmetic(u) : Work{};
  }
}

double InstructionWork::latency(UOp u) {
  if (u.is(Op::FDIV) || u.is(Op::RECIPROCAL) || u.is(Op::SQRT)) return 4;
  if (u.is(Op::VECTORIZE) || u.is(Op::GEP)) return 0.5;
  if (isDotProduct(u) || machineFunctionOf(u)) return 1;
  if (isTileProduct(u)) return 13; // 52 cycles
  if (!u.in(group::kAlu) && !u.is(Op::CAST)) return 0;
  const bool isFloat = u.dtype().isFloat() || (u.srcCount() > 1 && u.src(1).dtype().isFloat());
  if (u.is(Op::MAX) || u.is(Op::WHERE) || u.is(Op::CMPLT)) return 0.5;
  return isFloat ? 1 : 0.25;
}

} // namespace uopscope
