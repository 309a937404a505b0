// Evaluates values. Results are kept by node and by the values of the variables it depends on, so a loop
// computes its invariant parts once. graph_memory.cpp handles memory,
// graph_addresses.cpp its addresses, graph_movement.cpp the elements of tensors.
#include "replay/compare/graph_values.h"

#include "engine/base/error.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/machine_functions.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/tile_cores.h"
#include "engine/uop/eval.h"
#include "engine/uop/sint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace uopscope {
namespace {

constexpr int kDeepest = 3000;
/// Operations whose value depends on the requested element of a tensor.
constexpr OpSet kTensorOps =
    group::kMovement | OpSet{Op::BUFFER, Op::BUFFER_VIEW, Op::REDUCE_AXIS, Op::BUFFERIZE, Op::AFTER,
                             Op::MSTACK, Op::MSELECT,     Op::ALLREDUCE,   Op::MULTI};
constexpr OpSet kVariables{Op::RANGE, Op::SPECIAL, Op::DEFINE_VAR};
constexpr OpSet kPassThrough{Op::CONTIGUOUS, Op::DETACH, Op::CONTIGUOUS_BACKWARD, Op::NOOP, Op::COPY};

size_t lanesOf(UOp u) {
  return static_cast<size_t>(u.dtype().isPtr() ? u.dtype().vcount() : std::max(1, u.dtype().count()));
}
int coarseness(DType type) {
  switch (type.kind()) {
  case Scalar::Float64: return 1;
  case Scalar::Float32: return 2;
  case Scalar::Float16: return 3;
  case Scalar::BFloat16: return 4;
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return 5;
  default: return 0;
  }
}

} // namespace

void cannotEvaluate(const std::string& why) {
  throw Error(ErrorKind::Unsupported, why);
}

uint64_t hashOf(const ConstValue& v) {
  const uint64_t bits = v.kind == ConstValue::Kind::Float ? std::bit_cast<uint64_t>(v.f == 0 ? 0.0 : v.f)
                                                          : static_cast<uint64_t>(v.i);
  return mixHash(v.isInvalid() ? 1 : 0, bits);
}

ConstValue valueOfHash(DType type, uint64_t hash, int64_t low, int64_t high) {
  const DType scalar = type.scalar();
  if (scalar.isFloat()) {
    static constexpr double kCorners[] = {0, 1, -1, 0.5, 2, -3.25, 100, 1e-3};
    const double any = static_cast<double>(static_cast<int64_t>(hash >> 48) - (1 << 15)) / 4096.0;
    return convertConst(scalar, ConstValue::ofFloat(hash & 1 ? kCorners[(hash >> 1) % 8] : any));
  }
  if (scalar.isBool()) return ConstValue::ofBool(low == high ? low != 0 : hash & 1);
  if (low > high) low = high;
  const auto width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (width < 1000) {
    const bool corner = hash % 4 == 0;
    return convertConst(scalar,
                        ConstValue::ofInt(corner ? ((hash >> 2) & 1 ? low : high)
                                                 : low + static_cast<int64_t>((hash >> 8) % (width + 1))));
  }
  // Rules fail most often at small numbers and at numbers that a narrower type cannot hold.
  uint64_t v = (hash >> 8) % 33 - 16;
  if (hash % 2 == 0 && type.kind() != Scalar::Index) {
    static constexpr int kEnds[] = {7, 8, 15, 16, 31, 32, 63};
    v += uint64_t{1} << kEnds[(hash >> 16) % std::size(kEnds)];
    if ((hash >> 32) & 1) v = 0 - v;
  }
  return convertConst(scalar, ConstValue::ofInt(std::clamp(static_cast<int64_t>(v), low, high)));
}

bool alike(const ConstValue& a, const ConstValue& b, const ValueContext& context) {
  if (a.isInvalid()) return true; // nobody reads it
  if (b.isInvalid()) return false;
  if (a.kind != ConstValue::Kind::Float && b.kind != ConstValue::Kind::Float) return a.i == b.i;
  const double x = a.asDouble(), y = b.asDouble();
  if (std::isnan(x) || std::isinf(x)) return true; // rules promise nothing for these floats
  static constexpr double kRelative[] = {1e-4, 1e-4, 1e-4, 2e-2, 6e-2, 0.3};
  const double relative = kRelative[context.coarsest];
  return std::abs(x - y) <=
         relative * std::max({1.0, std::abs(x), std::abs(y)}) + context.roundoff * relative;
}

std::string showLanes(const Lanes& lanes) {
  std::string out;
  for (const ConstValue& v : lanes) {
    out += out.empty() ? "" : ", ";
    out += v.isInvalid()                       ? std::string("invalid")
           : v.kind == ConstValue::Kind::Float ? fmt::format("{:g}", v.f)
                                               : fmt::format("{}", v.i);
  }
  return lanes.size() > 1 ? "(" + out + ")" : out;
}

void GraphValues::set(uint32_t key, int64_t value) {
  if (key >= values_.size()) values_.resize(key + 16, 0), bindings_.resize(key + 16, 0);
  values_[key] = value;
  bindings_[key] = mixHash(key, static_cast<uint64_t>(value)) | 1;
}
void GraphValues::unset(uint32_t key) {
  if (key < bindings_.size()) bindings_[key] = 0;
}

void GraphValues::choose(uint32_t key, int64_t iteration) {
  set(key, iteration);
  running_.insert(key);
  chosen_.insert(key);
  wanted_[key] = iteration;
}
void GraphValues::recover() {
  values_.clear(), bindings_.clear(), running_.clear(), chosen_.clear(), written_.clear(), ran_.clear();
  depth_ = deep_ = 0;
  hasIndex_ = false;
  for (const auto& [key, iteration] : wanted_) choose(key, iteration);
}

void GraphValues::spend(int64_t n) {
  constexpr int64_t kBetweenQuestions = 1024;
  if (ctx_.stop && ctx_.budget % kBetweenQuestions == 0 && ctx_.stop()) cannotEvaluate("stopped");
  if ((ctx_.budget -= n) < 0) throw Error(ErrorKind::Index, "it is too large to be computed");
}

bool GraphValues::dependsOnIndex(UOp u) const {
  return hasIndex_ && u.below().intersects(kTensorOps);
}

uint64_t GraphValues::environment(UOp u) {
  uint64_t hash = 0;
  for (const Variable& v : ctx_.variables.of(u))
    if (v.key < bindings_.size() && bindings_[v.key]) hash = mixHash(hash, bindings_[v.key]);
  return hash;
}

Lanes GraphValues::value(UOp u) {
  if (u.is(Op::CONST))
    return Lanes(lanesOf(u), u.isInvalidConst() ? ConstValue::invalid()
                                                : convertConst(u.dtype().scalar(), u.arg().constant()));
  if (u.in(kVariables)) return computeVariable(u);
  if (atHand_)
    if (const auto it = atHand_->find(u); it != atHand_->end()) {
      TensorIndex at;
      for (const UOp i : it->second) at.push_back(value(i).front().i);
      return valueAt(u, std::move(at));
    }
  uint64_t key = mixHash(environment(u), u.slot());
  if (dependsOnIndex(u))
    for (const int64_t i : index_) key = mixHash(key, static_cast<uint64_t>(i));
  // A run reads memory in order: a value that was asked for at its chosen iteration would leave out such a read.
  if (ctx_.contents && deep_ > 0) key = mixHash(key, 1);
  Lanes out;
  if (memo_.find(key, out)) return out;
  spend();
  if (++depth_ > kDeepest) cannotEvaluate("the graph is too deep");
  out = ctx_.opaque.contains(u.slot()) ? opaqueValue(u) : compute(u);
  --depth_;
  if (out.empty()) cannotEvaluate("a vector without lanes");
  if (u.dtype().isFloat()) ctx_.coarsest = std::max(ctx_.coarsest, coarseness(u.dtype()));
  memo_.put(key, out);
  return out;
}

Lanes GraphValues::valueAt(UOp tensor, TensorIndex index) {
  std::swap(index_, index);
  const bool had = std::exchange(hasIndex_, true);
  const auto* atHand = std::exchange(atHand_, nullptr);
  Lanes out = value(tensor);
  index_ = std::move(index);
  hasIndex_ = had;
  atHand_ = atHand;
  return out;
}

/// Asking for the value of a variable is cheaper than looking for an earlier answer.
Lanes GraphValues::computeVariable(UOp u) {
  const VariableList& open = ctx_.variables.of(u);
  const auto own = std::find_if(open.begin(), open.end(), [&](const Variable& v) { return v.node == u; });
  const auto at = own == open.end() ? std::nullopt : get(own->key);
  if (!at) cannotEvaluate(fmt::format("{} is used outside of its loop", opName(u.op())));
  return Lanes(lanesOf(u), convertConst(u.dtype().scalar(), ConstValue::ofInt(*at)));
}

Lanes GraphValues::opaqueValue(UOp u) {
  uint64_t hash = mixHash(ctx_.seed, mixHash(u.slot(), environment(u)));
  if (dependsOnIndex(u))
    for (const int64_t i : index_) hash = mixHash(hash, static_cast<uint64_t>(i));
  const bool isInt = u.dtype().isInt() || u.dtype().isBool();
  const int64_t low = isInt ? u.vmin() : 0, high = isInt ? u.vmax() : 0;
  Lanes out;
  for (size_t l = 0; l < lanesOf(u); ++l) out.push_back(valueOfHash(u.dtype(), mixHash(hash, l), low, high));
  return out;
}

Lanes GraphValues::compute(UOp u) {
  const size_t lanes = lanesOf(u);
  const auto function = machineFunctionOf(u);
  if ((u.in(group::kElementwise) || function) && !u.dtype().isPtr() && !u.src(0).dtype().isPtr()) {
    if (u.is(Op::BITCAST) && u.dtype().scalar().itemsize() != u.src(0).dtype().scalar().itemsize())
      cannotEvaluate("BITCAST to a type of another size");
    constexpr size_t kMostOperands = 3;
    Lanes from[kMostOperands];
    const size_t count = std::min(u.srcCount(), kMostOperands);
    for (size_t k = 0; k < count; ++k) from[k] = value(u.src(k));
    const DType operand = u.src(u.is(Op::WHERE) ? 1 : 0).dtype().scalar();
    Lanes out;
    out.reserve(lanes);
    for (size_t l = 0; l < lanes; ++l) {
      ConstValue operands[kMostOperands];
      for (size_t k = 0; k < count; ++k) operands[k] = from[k][l % from[k].size()];
      const std::span given(operands, count);
      out.push_back(function ? evalMachineFunction(*function, u.dtype(), given)
                             : evalAlu(u.op(), u.dtype().scalar(), operand, given));
    }
    return out;
  }
  if (u.in(group::kMovement)) {
    if (!hasIndex_) cannotEvaluate("a tensor has no single value");
    TensorIndex at = index_;
    if (!throughMovement(u, at)) return Lanes(lanes, convertConst(u.dtype().scalar(), ConstValue::ofInt(0)));
    return valueAt(u.src(0), std::move(at));
  }
  if (u.in(kPassThrough) && u.srcCount() && !u.dtype().isVoid()) return value(u.src(0));
  switch (u.op()) {
  case Op::VCONST: {
    Lanes out;
    for (const ConstValue& v : u.arg().as<std::vector<ConstValue>>())
      out.push_back(v.isInvalid() ? v : convertConst(u.dtype().scalar(), v));
    return out;
  }
  case Op::BIND: return value(u.src(u.srcCount() - 1));
  case Op::VECTORIZE: {
    Lanes out;
    for (const UOp s : u.src()) out.push_back(value(s).front());
    if (out.empty()) out.push_back(ConstValue::ofInt(0)); // the shape of a scalar
    return out;
  }
  case Op::CAT: {
    Lanes out;
    for (const UOp s : u.src())
      for (const ConstValue& v : value(s)) out.push_back(v);
    return out;
  }
  case Op::GEP: return computeLanes(u);
  case Op::UNROLL: return computeUnroll(u);
  case Op::CONTRACT: {
    Lanes out;
    forEach(ctx_.variables.closedBy(u), [&] {
      for (const ConstValue& v : value(u.src(0))) out.push_back(v);
    });
    return out;
  }
  case Op::REDUCE: return computeReduce(u);
  case Op::REDUCE_AXIS: return computeReduceAxis(u);
  case Op::LOAD: return computeLoad(u);
  case Op::INDEX: return computeIndex(u);
  case Op::ASSIGN: return value(u.src(1));
  case Op::BUFFERIZE:
    if (!hasIndex_) cannotEvaluate("a tensor has no single value");
    return bufferizedAt(u, index_);
  case Op::BUFFER:
  case Op::BUFFER_VIEW: return computeBuffer(u);
  case Op::AFTER:
    if (memoryBase(u)) return computeBuffer(u);
    for (const UOp s : u.src().subspan(1))
      if (s.dtype().isVoid()) ensureRan(s);
    return value(u.src(0));
  case Op::WMMA:
    if (isDotProduct(u)) return computeDot(u);
    if (isTileProduct(u) && u.src(0).dtype().count() > 1) return computeTiles(u);
    [[fallthrough]];
  default: return uninterpreted(u);
  }
}

/// Of a vector made of its lanes, only those that are asked for are computed.
Lanes GraphValues::computeLanes(UOp gep) {
  const UOp vector = gep.src(0);
  const bool madeOfLanes = vector.is(Op::VECTORIZE) && !ctx_.opaque.contains(vector.slot());
  const Lanes all = madeOfLanes ? Lanes() : value(vector);
  const size_t count = madeOfLanes ? vector.srcCount() : all.size();
  Lanes out;
  for (const int64_t i : gep.arg().ints()) {
    const auto lane = static_cast<size_t>(i);
    if (i < 0 || lane >= count) cannotEvaluate("a lane that is not there");
    out.push_back(madeOfLanes ? value(vector.src(lane)).front() : all[lane]);
  }
  return out;
}

/// The terms of a lane lie side by side in both operands.
Lanes GraphValues::computeDot(UOp wmma) {
  const Lanes a = value(wmma.src(0)), b = value(wmma.src(1)), sum = value(wmma.src(2));
  const auto terms = static_cast<size_t>(termsOfDot(wmma));
  Lanes out;
  for (size_t l = 0; l < lanesOf(wmma); ++l) {
    if ((l + 1) * terms > std::min(a.size(), b.size())) cannotEvaluate("an operand with too few lanes");
    auto termsAt = [&](const Lanes& all) {
      return std::vector<ConstValue>(all.begin() + static_cast<std::ptrdiff_t>(l * terms),
                                     all.begin() + static_cast<std::ptrdiff_t>((l + 1) * terms));
    };
    out.push_back(dotProduct(wmma.dtype().scalar(), termsAt(a), termsAt(b), sum[l % sum.size()]));
  }
  return out;
}

Lanes GraphValues::computeTiles(UOp wmma) {
  const Lanes a = value(wmma.src(0)), b = value(wmma.src(1)), sum = value(wmma.src(2));
  const int64_t terms = wmma.arg().as<WmmaArg>().dims[2];
  const auto elements = static_cast<size_t>(kTileLines * terms), results = size_t{kTileLines * kTileLines};
  if (lanesOf(wmma) % results) cannotEvaluate("a part of a tile");
  Lanes out;
  for (size_t t = 0; t < lanesOf(wmma) / results; ++t) {
    if ((t + 1) * elements > std::min(a.size(), b.size())) cannotEvaluate("an operand with too few lanes");
    std::vector<ConstValue> before;
    for (size_t i = 0; i < results; ++i) before.push_back(sum[(t * results + i) % sum.size()]);
    auto tile = [&](const Lanes& all) {
      return std::span(all.begin() + static_cast<std::ptrdiff_t>(t * elements), elements);
    };
    const auto after = tileProduct(wmma.dtype().scalar(), terms, tile(a), tile(b), before);
    for (const ConstValue& v : after) out.push_back(v);
  }
  return out;
}

/// Text of a target, tensor cores and shards: an unknown function of the operands.
Lanes GraphValues::uninterpreted(UOp u) {
  if (u.dtype().isVoid() || u.dtype().isPtr()) cannotEvaluate(fmt::format("{} has no value", opName(u.op())));
  if (ctx_.contents)
    cannotEvaluate(
        fmt::format("{} is an operation of a target, which is not interpreted here", opName(u.op())));
  ctx_.guessed = true;
  uint64_t hash = mixHash(mixHash(ctx_.seed, static_cast<uint64_t>(u.op())), u.arg().hash());
  for (const UOp s : u.src())
    if (!s.dtype().isVoid() && !s.is(Op::DEVICE))
      for (const ConstValue& v : value(s)) hash = mixHash(hash, hashOf(v));
  Lanes out;
  for (size_t l = 0; l < lanesOf(u); ++l) out.push_back(valueOfHash(u.dtype(), mixHash(hash, l)));
  return out;
}

Lanes GraphValues::computeUnroll(UOp u) {
  const Lanes wide = value(u.src(0));
  size_t at = 0, total = 1;
  for (const auto& [id, size] : laneAxes(u)) {
    const auto k = get(ctx_.variables.keyOfAxis(id));
    if (!k || *k >= size) cannotEvaluate("an axis of UNROLL outside of its loop");
    at = at * static_cast<size_t>(size) + static_cast<size_t>(*k);
    total *= static_cast<size_t>(size);
  }
  const size_t width = total ? wide.size() / total : 0;
  if (!width || width * total != wide.size()) cannotEvaluate("an UNROLL of another number of lanes");
  return Lanes(wide.begin() + static_cast<std::ptrdiff_t>(at * width),
               wide.begin() + static_cast<std::ptrdiff_t>((at + 1) * width));
}

void GraphValues::forEach(const VariableList& loops, const std::function<void()>& f) {
  std::function<void(size_t)> level = [&](size_t k) {
    if (k == loops.size()) {
      f();
      return;
    }
    const uint32_t key = loops[k].key;
    const auto before = get(key);
    const bool fresh = running_.insert(key).second;
    const bool chosen = chosen_.erase(key) > 0;
    const int64_t n = extentOf(loops[k]);
    for (int64_t i = 0; i < n; ++i) {
      set(key, i);
      level(k + 1);
    }
    if (fresh) running_.erase(key);
    if (chosen) chosen_.insert(key);
    if (before)
      set(key, *before);
    else
      unset(key);
  };
  level(0);
}

int64_t GraphValues::extentOf(const Variable& v) {
  if (!v.node) return v.size;
  if (v.node.is(Op::DEFINE_VAR)) return v.node.arg().as<VarArg>().vmax + 1;
  return value(v.node.src(0)).front().i;
}

void GraphValues::expectToSpend(const VariableList& loops, UOp u) {
  while (u.is(Op::CAST)) u = u.src(0);
  if (u.dtype().isPtr() && !u.is(Op::INDEX)) return; // several addresses
  for (const UOp computed : u.is(Op::INDEX) ? u.src().subspan(1) : std::span(&u, 1)) {
    const VariableList& open = ctx_.variables.of(computed);
    int64_t least = 1;
    for (const Variable& v : loops)
      if (hasKey(open, v.key) && __builtin_mul_overflow(least, std::max<int64_t>(1, extentOf(v)), &least))
        least = INT64_MAX;
    if (least > ctx_.budget) spend(least);
  }
}

Lanes GraphValues::computeReduce(UOp u) {
  const Op how = u.arg().op();
  const DType type = u.dtype().scalar();
  Lanes sum(lanesOf(u), convertConst(type, identityElement(how, type).constValue()));
  double magnitude = 0;
  const VariableList loops = ctx_.variables.closedBy(u);
  expectToSpend(loops, u.src(0));
  forEach(loops, [&] {
    const Lanes term = value(u.src(0));
    for (size_t l = 0; l < std::max(term.size(), sum.size()); ++l) {
      ConstValue& to = sum[l % sum.size()];
      const ConstValue& from = term[l % term.size()];
      if (from.isInvalid()) continue;
      to = evalAlu(how, type, type, {to, from});
      if (type.isFloat()) magnitude = std::max({magnitude, std::abs(from.f), std::abs(to.f)});
    }
  });
  if (std::isfinite(magnitude)) ctx_.roundoff = std::max(ctx_.roundoff, magnitude);
  return sum;
}

Lanes GraphValues::computeReduceAxis(UOp u) {
  if (!hasIndex_) cannotEvaluate("a tensor has no single value");
  const auto& arg = u.arg().as<ReduceArg>();
  const TensorIndex shape = shapeOf(u.src(0));
  if (shape.size() != index_.size()) cannotEvaluate("a tensor of another rank");
  for (const int64_t axis : arg.axes)
    if (axis < 0 || static_cast<size_t>(axis) >= shape.size()) cannotEvaluate("an axis that is not there");
  const DType type = u.dtype().scalar();
  Lanes sum(lanesOf(u), convertConst(type, identityElement(arg.op, type).constValue()));
  TensorIndex at = index_;
  double magnitude = 0;
  std::function<void(size_t)> level = [&](size_t k) {
    if (k < arg.axes.size()) {
      const auto axis = static_cast<size_t>(arg.axes[k]);
      for (at[axis] = 0; at[axis] < shape[axis]; ++at[axis]) level(k + 1);
      return;
    }
    const Lanes term = valueAt(u.src(0), at);
    for (size_t l = 0; l < sum.size(); ++l) {
      if (term[l % term.size()].isInvalid()) continue;
      sum[l] = evalAlu(arg.op, type, type, {sum[l], term[l % term.size()]});
      if (type.isFloat())
        magnitude = std::max({magnitude, std::abs(sum[l].f), std::abs(term[l % term.size()].f)});
    }
  };
  level(0);
  if (std::isfinite(magnitude)) ctx_.roundoff = std::max(ctx_.roundoff, magnitude);
  return sum;
}

} // namespace uopscope
