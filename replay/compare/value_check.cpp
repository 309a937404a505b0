// Values are lanes of constants. An unknown function is a hash of what it is and of the values it reads,
// turned into a value of its type, so equal reads give equal values on both sides of a rewrite.
#include "replay/compare/value_check.h"

#include "engine/uop/eval.h"
#include "engine/uop/sint.h"
#include "replay/read/materialize.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <unordered_map>

namespace uopscope {
namespace {

using Lanes = std::vector<ConstValue>;
using Values = std::unordered_map<uint32_t, Lanes>; // by id of the node

constexpr size_t kMostNodes = 600;
// What only one side has of these holds other lanes, shapes or terms: its value is no function of the same
// things.
constexpr OpSet kRearranging =
    group::kMovement |
    OpSet{Op::UNROLL, Op::CONTRACT, Op::REDUCE, Op::REDUCE_AXIS, Op::WMMA, Op::AFTER, Op::BUFFERIZE, Op::CAT};

uint64_t mix(uint64_t a, uint64_t b) {
  a ^= b + 0x9E3779B97F4A7C15ull + (a << 6) + (a >> 2);
  a *= 0xBF58476D1CE4E5B9ull;
  return a ^ (a >> 31);
}
uint64_t hashOf(const ConstValue& v) {
  const uint64_t bits = v.kind == ConstValue::Kind::Float ? std::bit_cast<uint64_t>(v.f == 0 ? 0.0 : v.f)
                                                          : static_cast<uint64_t>(v.i);
  return mix(static_cast<uint64_t>(v.kind), bits);
}

/// A value of the type made of a hash, small ones often: that is where rules go wrong.
ConstValue valueOf(DType type, uint64_t hash) {
  const DType scalar = type.scalar();
  if (scalar.isFloat()) {
    static constexpr double kCorners[] = {0, 1, -1, 0.5, 2, -3.25, 100, 1e-3};
    const double any = static_cast<double>(static_cast<int64_t>(hash >> 40) - (1 << 23)) / 65536.0;
    return convertConst(scalar, ConstValue::ofFloat(hash & 1 ? kCorners[(hash >> 1) % 8] : any));
  }
  if (scalar.isBool()) return ConstValue::ofBool(hash & 1);
  return convertConst(scalar, ConstValue::ofInt(static_cast<int64_t>((hash >> 8) % 33) - 16));
}

/// Bits of values of one size taken as another type.
bool isBitcast(UOp u) {
  return u.is(Op::BITCAST) && !u.dtype().isPtr() && !u.src(0).dtype().isPtr() &&
         u.dtype().scalar().itemsize() == u.src(0).dtype().scalar().itemsize();
}

bool isVariable(Op op) {
  return op == Op::RANGE || op == Op::SPECIAL || op == Op::DEFINE_VAR;
}

struct Evaluator {
  const Values& variables;
  uint64_t seed;
  Values memo;

  const Lanes& operator()(UOp u) {
    if (const auto it = memo.find(u.id()); it != memo.end()) return it->second;
    Lanes value = compute(u);
    return memo.emplace(u.id(), std::move(value)).first->second;
  }
  Lanes compute(UOp u) {
    if (const auto v = variables.find(u.id()); v != variables.end()) return v->second;
    const auto lanes =
        static_cast<size_t>(u.dtype().isPtr() ? 1 : std::max(1, static_cast<int>(u.dtype().count())));
    if (u.is(Op::CONST)) return Lanes(lanes, convertConst(u.dtype().scalar(), u.arg().constant()));
    if (u.is(Op::VECTORIZE)) {
      Lanes out;
      for (size_t i = 0; i < u.srcCount(); ++i) out.push_back((*this)(u.src(i)).front());
      if (out.empty()) out.push_back(ConstValue::ofInt(0)); // the shape of a scalar
      return out;
    }
    if (u.is(Op::GEP) && u.arg().kind() == ArgKind::Ints) {
      const Lanes from = (*this)(u.src(0));
      Lanes out;
      for (const int64_t i : u.arg().ints()) out.push_back(from[static_cast<size_t>(i) % from.size()]);
      return out;
    }
    if (u.is(Op::CAST) && !u.dtype().isPtr() && !u.src(0).dtype().isPtr()) {
      Lanes out = (*this)(u.src(0));
      for (ConstValue& v : out)
        if (!v.isInvalid()) v = convertConst(u.dtype().scalar(), v);
      return out;
    }
    if (group::kAlu.has(u.op()) || isBitcast(u)) {
      std::vector<Lanes> from;
      for (size_t i = 0; i < u.srcCount(); ++i) from.push_back((*this)(u.src(i)));
      const DType operand = u.src(u.is(Op::WHERE) ? 1 : 0).dtype().scalar();
      Lanes out;
      for (size_t l = 0; l < lanes; ++l) {
        std::vector<ConstValue> operands;
        for (const Lanes& f : from) operands.push_back(f[l % f.size()]);
        out.push_back(evalAlu(u.op(), u.dtype().scalar(), operand, operands));
      }
      return out;
    }
    uint64_t hash = mix(mix(seed, static_cast<uint64_t>(u.op())), mix(u.dtype().bits(), u.arg().hash()));
    for (size_t i = 0; i < u.srcCount(); ++i)
      for (const ConstValue& v : (*this)(u.src(i))) hash = mix(hash, hashOf(v));
    Lanes out;
    for (size_t l = 0; l < lanes; ++l)
      out.push_back(u.dtype().isVoid() || u.dtype().isPtr()
                        ? ConstValue::ofInt(static_cast<int64_t>(mix(hash, l) >> 1))
                        : valueOf(u.dtype(), mix(hash, l)));
    return out;
  }
};

bool alike(const ConstValue& a, const ConstValue& b) {
  if (a.isInvalid()) return true; // nobody reads it
  if (b.isInvalid()) return false;
  if (a.kind != ConstValue::Kind::Float && b.kind != ConstValue::Kind::Float) return a.i == b.i;
  const double x = a.asDouble(), y = b.asDouble();
  if (std::isnan(x) || std::isinf(x)) return true; // outside of what rules promise for floats
  return std::abs(x - y) <= 1e-4 * std::max({1.0, std::abs(x), std::abs(y)});
}

std::string show(const Lanes& lanes) {
  std::string out;
  for (const ConstValue& v : lanes) {
    out += out.empty() ? "" : ", ";
    out += v.isInvalid()                       ? std::string("invalid")
           : v.kind == ConstValue::Kind::Float ? fmt::format("{:g}", v.f)
                                               : fmt::format("{}", v.i);
  }
  return lanes.size() > 1 ? "(" + out + ")" : out;
}

/// What is taken as unknown; a side that has other ones cannot be compared.
std::set<std::tuple<Op, uint64_t, uint64_t>> unknowns(const std::vector<UOp>& nodes) {
  std::set<std::tuple<Op, uint64_t, uint64_t>> out;
  for (const UOp& u : nodes)
    if (!group::kAlu.has(u.op()) && !isVariable(u.op()) && !u.is(Op::CONST) && !u.is(Op::VECTORIZE) &&
        !u.is(Op::GEP) && !u.is(Op::CAST) && !isBitcast(u))
      out.insert({u.op(), u.dtype().bits(), u.arg().hash()});
  return out;
}

std::vector<UOp> below(UOp root) {
  std::vector<UOp> out, stack{root};
  std::set<uint32_t> seen{root.id()};
  while (!stack.empty() && out.size() <= kMostNodes) {
    const UOp u = stack.back();
    stack.pop_back();
    out.push_back(u);
    if (!isVariable(u.op()))
      for (size_t i = 0; i < u.srcCount(); ++i)
        if (seen.insert(u.src(i).id()).second) stack.push_back(u.src(i));
  }
  return out;
}

/// First everything at its lowest, then at its highest, then corners and values between at random.
int64_t choose(int sample, int64_t low, int64_t high, uint64_t hash) {
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  if (sample == 0 || (sample > 1 && hash % 4 == 0)) return low;
  if (sample == 1 || hash % 4 == 1) return high;
  return width == UINT64_MAX ? static_cast<int64_t>(hash)
                             : low + static_cast<int64_t>((hash >> 2) % (width + 1));
}

/// Empty where both can be evaluated side by side.
std::string obstacle(UOp before, UOp after, const std::vector<UOp>& left, const std::vector<UOp>& right) {
  if (before.dtype().isVoid() || before.dtype().isPtr() || after.dtype().isVoid())
    return fmt::format("{} has no value", opName(before.op()));
  if (before.dtype().scalar() != after.dtype().scalar()) return "the type is another one";
  if (left.size() > kMostNodes || right.size() > kMostNodes) return "the expression is too large";
  const Op root = before.op();
  if (before.hasShape())
    for ([[maybe_unused]] const auto& axis : before.shape()) return "a tensor has no single value";
  if (!group::kAlu.has(root) && !isBitcast(before) && root != Op::CAST && root != Op::VECTORIZE &&
      root != Op::GEP)
    return fmt::format("{} is not computed but taken as it is", opName(root));
  const auto a = unknowns(left), b = unknowns(right);
  auto only = [](const std::vector<UOp>& here, const std::vector<UOp>& there) {
    return std::any_of(here.begin(), here.end(), [&](const UOp& u) {
      return kRearranging.has(u.op()) && std::find(there.begin(), there.end(), u) == there.end();
    });
  };
  const bool arranged = only(left, right) || only(right, left);
  if (arranged || !std::includes(a.begin(), a.end(), b.begin(), b.end()))
    return "what it reads or reduces is arranged differently";
  return {};
}

} // namespace

ValueCheck checkRewrite(const NodeReader& read, NodeId beforeId, NodeId afterId, int samples) {
  ValueCheck out;
  if (afterId == kNoNode) {
    out.why = "the rule failed";
    return out;
  }
  Pool pool;
  PoolScope scope(pool);
  try {
    Materializer make(read, pool);
    const UOp before = make(beforeId), after = make(afterId);
    out.verdict = ValueCheck::Verdict::Same;
    if (before == after) return out;
    const auto left = below(before), right = below(after);
    out.why = obstacle(before, after, left, right);
    if (!out.why.empty()) {
      out.verdict = ValueCheck::Verdict::Unknown;
      return out;
    }
    std::map<uint32_t, UOp> variables;
    for (const auto* side : {&left, &right})
      for (const UOp& u : *side)
        if (isVariable(u.op())) variables.emplace(u.id(), u);
    for (int n = 0; n < samples; ++n) {
      Values values;
      const uint64_t seed = mix(0x5EED, static_cast<uint64_t>(n));
      for (const auto& [id, v] : variables)
        values[id] = Lanes(1, convertConst(v.dtype().scalar(),
                                           ConstValue::ofInt(choose(n, v.vmin(), std::max(v.vmin(), v.vmax()),
                                                                    mix(seed, id)))));
      Evaluator evaluate{values, seed, {}};
      const Lanes a = evaluate(before), b = evaluate(after);
      ++out.samples;
      bool same = true;
      for (size_t l = 0; same && l < std::max(a.size(), b.size()); ++l)
        same = alike(a[l % a.size()], b[l % b.size()]);
      if (same) continue;
      for (const auto& [id, v] : variables)
        out.where += fmt::format("{}{} = {}", out.where.empty() ? "" : ", ", v.render(), show(values[id]));
      out.verdict = ValueCheck::Verdict::Differs;
      out.before = show(a), out.after = show(b);
      return out;
    }
  } catch (const Error& e) {
    out.verdict = ValueCheck::Verdict::Unknown;
    out.why = e.what();
  }
  return out;
}

ValueSurvey checkTrace(Trace& trace, size_t mostFaults, const std::function<bool(double)>& progress) {
  ValueSurvey out;
  Statement count = trace.database().prepare("SELECT coalesce(max(id), 0) FROM step");
  count.step();
  const auto total = static_cast<double>(std::max<int64_t>(1, count.integer(0)));
  const NodeReader read = trace.nodes().reader();
  std::set<std::pair<NodeId, NodeId>> seen; // the same rewrite happens in many kernels
  Statement s =
      trace.database().prepare("SELECT id, rule, before, after FROM step WHERE kind <> 2 ORDER BY id");
  while (s.step()) {
    const StepId id = s.integer(0);
    if (++out.checked % 64 == 0 && progress && !progress(static_cast<double>(id) / total)) return out;
    const auto before = static_cast<NodeId>(s.integer(2)), after = static_cast<NodeId>(s.integer(3));
    if (before == after) {
      ++out.unchanged;
      continue;
    }
    if (!seen.emplace(before, after).second) {
      ++out.same;
      continue;
    }
    ValueCheck c = checkRewrite(read, before, after, 16);
    out.same += c.verdict == ValueCheck::Verdict::Same;
    out.unknown += c.verdict == ValueCheck::Verdict::Unknown;
    if (c.verdict == ValueCheck::Verdict::Differs && out.faults.size() < mostFaults)
      out.faults.push_back({id, s.integer(1), std::move(c)});
  }
  out.complete = true;
  return out;
}

} // namespace uopscope
