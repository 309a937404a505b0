// Simplification, bounds, divisibility and evaluation of integer expressions.
#include "engine/rules/algebra.h"

#include "engine/base/error.h"
#include "engine/base/id_map.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "engine/uop/eval.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace uopscope {

UOp simplify(UOp u) {
  if (u.isConst() || u.is(Op::DEFINE_VAR)) return u;
  // Inside an observed pass, the rewrites of this helper graph are recorded as part of the step of the rule
  // that asks. Outside of a pass (a shape of the script, for example) no graph changes, so nothing is
  // reported.
  ObserverScope observed(insideObservedPass() ? Observer::current() : nullptr);
  // Rules normalise a sum when its user is visited, so a bare sum gets a SINK as its user.
  if (u.is(Op::ADD) || u.is(Op::MUL))
    return graphRewrite(UOp::sink(std::array{u}), symbolic(), {.name = "simplify"}).src(0);
  return graphRewrite(u, symbolic(), {.name = "simplify"});
}

Sint simplify(const Sint& s) {
  return s.isInt() ? s : Sint(simplify(s.uop()));
}

Shape simplify(const Shape& shape) {
  Shape out;
  for (const Sint& s : shape) out.push_back(simplify(s));
  return out;
}

std::optional<int64_t> constantOf(UOp u) {
  UOp r = simplify(u);
  if (r.isConst() && (r.arg().kind() == ArgKind::Int || r.arg().kind() == ArgKind::Bool)) return r.arg().i();
  return std::nullopt;
}

bool resolve(UOp condition, bool fallback) {
  if (!condition.dtype().isBool())
    throw Error(ErrorKind::Type, fmt::format("a condition must be a bool, not {}", condition.dtype().name()));
  if (condition.vmin() == condition.vmax()) return condition.vmin() != 0;
  UOp r = simplify(condition);
  return r.vmin() == r.vmax() ? r.vmin() != 0 : fallback;
}
bool resolve(bool condition, bool) {
  return condition;
}

UOp lessThan(const Sint& a, const Sint& b) {
  if (a.isInt() && b.isInt()) return UOp::boolean(a.i() < b.i());
  return a.uop() < b.uop();
}
int64_t constFactor(UOp u) {
  auto ofTerm = [](UOp term) -> int64_t {
    if (term.isConst() && term.arg().kind() == ArgKind::Int) return term.arg().i();
    if (term.is(Op::MUL))
      for (UOp factor : term.src())
        if (factor.isConst() && factor.arg().kind() == ArgKind::Int) return factor.arg().i();
    return 1;
  };
  if (!u.is(Op::ADD)) return ofTerm(u);
  int64_t common = 0;
  visitBelow(u, [&](UOp term) { // each once: sums are deep, and share terms
    if (term.is(Op::ADD)) return Visit::Below;
    common = std::gcd(common, ofTerm(term));
    return Visit::Past;
  });
  return common;
}

UOp divides(UOp u, int64_t d) {
  if (d == 1) return u;
  if (d == 0) return {};
  return divideTerms(u, UOp::constant(u.dtype(), d));
}

UOp divideExact(UOp u, UOp divisor) {
  if (u == divisor) return UOp::constant(u.dtype(), int64_t{1});
  if (UOp terms = divideTerms(u, divisor)) return terms;
  std::vector<UOp> factors = splitUop(u, Op::MUL);
  auto whole = std::find(factors.begin(), factors.end(), divisor);
  if (whole == factors.end()) return {};
  factors.erase(whole);
  return joinUop(factors, Op::MUL, UOp::constant(u.dtype(), int64_t{1}));
}

std::pair<UOp, int64_t> popConst(UOp u, Op op) {
  if (u.is(op) && u.srcCount() == 2 && u.src(1).isConst() && u.src(1).arg().kind() == ArgKind::Int)
    return {u.src(0), u.src(1).arg().i()};
  return {u, op == Op::MUL ? 1 : 0};
}

std::vector<UOp> splitUop(UOp u, Op op) {
  std::vector<UOp> out, stack{u};
  while (!stack.empty()) {
    UOp t = stack.back();
    stack.pop_back();
    if (!t.is(op)) {
      out.push_back(t);
      continue;
    }
    for (size_t i = t.srcCount(); i-- > 0;) stack.push_back(t.src(i));
  }
  return out;
}

UOp joinUop(std::span<const UOp> operands, Op op, UOp none) {
  if (operands.empty()) return none;
  UOp all = operands[0];
  for (UOp u : operands.subspan(1)) all = all.alu(op, {u});
  return all;
}

UOp gcd(std::span<const UOp> u) {
  if (u.empty()) return UOp::index(0);
  DType dtype = u[0].dtype();
  int64_t constant = 0;
  bool first = true;
  std::vector<UOp> common;
  auto meet = [&](std::vector<UOp> factors) {
    if (first) {
      common = std::move(factors);
      first = false;
      return;
    }
    std::vector<UOp> both;
    for (UOp c : common) {
      auto it = std::find(factors.begin(), factors.end(), c);
      if (it == factors.end()) continue;
      factors.erase(it);
      both.push_back(c);
    }
    common = std::move(both);
  };
  for (UOp e : u) {
    Linear l = linearOf(e);
    for (const Term& t : l.terms) {
      int64_t inner = t.factor;
      std::vector<UOp> factors = factorsOf(t.node, inner);
      constant = std::gcd(constant, inner);
      meet(std::move(factors));
    }
    if (l.constant || l.terms.empty()) {
      constant = std::gcd(constant, l.constant);
      if (l.constant) meet({});
    }
  }
  UOp g = joinUop(common, Op::MUL, {});
  if (!g) return UOp::constant(dtype, constant);
  return constant == 1 ? g : g * UOp::constant(dtype, constant);
}

bool isIncreasing(UOp u) {
  std::vector<UOp> stack{u};
  IdMap<bool> seen;
  while (!stack.empty()) {
    UOp t = stack.back();
    stack.pop_back();
    if (t.in(group::kIrreducible) || seen.contains(t.slot())) continue;
    seen.set(t.slot(), true);
    bool scaled = (t.is(Op::MUL) || t.is(Op::IDIV)) && t.src(1).isConst() &&
                  t.src(1).arg().kind() == ArgKind::Int && t.src(1).arg().i() >= 0;
    if (t.is(Op::ADD)) {
      stack.push_back(t.src(0));
      stack.push_back(t.src(1));
    } else if (scaled) {
      stack.push_back(t.src(0));
    } else {
      return false;
    }
  }
  return true;
}

std::optional<ConstValue> evaluate(UOp u, const Binding& leaves) {
  struct Value {
    bool known = false;
    ConstValue value;
  };
  IdMap<Value> values;
  auto isLeaf = [&](UOp n) { return leaves.contains(n); };
  for (UOp n : u.toposort([&](UOp n) { return !isLeaf(n); })) {
    if (n.isConst()) {
      values.set(n.slot(), {true, n.constValue()});
      continue;
    }
    if (n.is(Op::BIND)) {
      Value* v = values.find(n.src(1).slot());
      values.set(n.slot(), v ? *v : Value{});
      continue;
    }
    if (!n.in(group::kElementwise)) continue;
    std::array<ConstValue, 3> operands;
    bool known = true;
    for (size_t i = 0; i < n.srcCount(); ++i) {
      auto leaf = leaves.find(n.src(i));
      Value* v = values.find(n.src(i).slot());
      if (leaf != leaves.end())
        operands[i] = leaf->second;
      else if (v && v->known)
        operands[i] = v->value;
      else
        known = false;
    }
    if (!known) continue;
    DType operandType = n.src(n.is(Op::WHERE) ? 1 : 0).dtype();
    values.set(n.slot(),
               {true, evalAlu(n.op(), n.dtype(), operandType, std::span(operands.data(), n.srcCount()))});
  }
  if (auto leaf = leaves.find(u); leaf != leaves.end()) return leaf->second;
  Value* v = values.find(u.slot());
  if (!v || !v->known) return std::nullopt;
  return v->value;
}

int64_t symInfer(UOp u, const std::map<std::string, int64_t>& vars) {
  if (u.isConst()) return u.arg().i();
  Binding leaves;
  for (UOp n : u.toposort()) {
    if (!n.is(Op::DEFINE_VAR)) continue;
    const std::string& name = n.arg().as<VarArg>().name;
    auto it = vars.find(name);
    if (it == vars.end())
      throw Error(ErrorKind::Key,
                  fmt::format("variable {} has no value; bind it before {} is needed", name, u.render()));
    leaves[n] = ConstValue::ofInt(it->second);
  }
  // A bound variable takes the value given for the variable, else that of its binding.
  for (UOp n : u.toposort())
    if (n.is(Op::BIND)) leaves[n] = leaves.contains(n.src(0)) ? leaves[n.src(0)] : n.src(1).constValue();
  auto v = evaluate(u, leaves);
  if (!v || v->isInvalid()) throw Error(ErrorKind::Value, fmt::format("{} has no value", u.render()));
  return v->i;
}

int64_t symInfer(const Sint& s, const std::map<std::string, int64_t>& vars) {
  return s.isInt() ? s.i() : symInfer(s.uop(), vars);
}

UOp indexOf(UOp gated) {
  return gated.is(Op::WHERE) && gated.src(2).isInvalidConst() ? gated.src(1) : gated;
}
UOp validOf(UOp gated) {
  if (gated.is(Op::WHERE) && gated.src(2).isInvalidConst()) return gated.src(0);
  return UOp::boolean(!gated.isInvalidConst());
}

} // namespace uopscope
