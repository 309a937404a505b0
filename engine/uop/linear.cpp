// Flattening, ordering and rebuilding of integer sums in the normal form of linear.h.
#include "engine/uop/linear.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr int kCompareDepth = 6; ///< deeper ties go by id, which keeps a comparison cheap on deep graphs

bool isIntConst(UOp u) {
  return u.isConst() && u.arg().kind() == ArgKind::Int;
}

template <typename T>
int compareValues(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int compareArgs(Arg a, Arg b) {
  if (a == b) return 0;
  if (a.kind() != b.kind()) return compareValues(a.kind(), b.kind());
  switch (a.kind()) {
  case ArgKind::Bool:
  case ArgKind::Int: return compareValues(a.i(), b.i());
  case ArgKind::Float:
    if (int c = compareValues(a.f(), b.f())) return c;
    return compareValues(a.bits(), b.bits());
  case ArgKind::Op: return compareValues(a.bits(), b.bits());
  case ArgKind::String: return compareValues(a.str(), b.str());
  case ArgKind::Ints: return compareValues(a.ints(), b.ints());
  case ArgKind::Range: {
    const auto &x = a.as<RangeArg>(), &y = b.as<RangeArg>();
    if (int c = compareValues(x.ids, y.ids)) return c;
    return compareValues(x.type, y.type);
  }
  case ArgKind::Var: {
    const auto &x = a.as<VarArg>(), &y = b.as<VarArg>();
    if (int c = compareValues(x.name, y.name)) return c;
    if (int c = compareValues(x.vmin, y.vmin)) return c;
    return compareValues(x.vmax, y.vmax);
  }
  default: return compareValues(a.hash(), b.hash());
  }
}

int compareTo(UOp a, UOp b, int depth) {
  if (a == b) return 0;
  if (a.op() != b.op()) return compareValues(a.op(), b.op());
  if (a.dtype() != b.dtype()) return compareValues(a.dtype().bits(), b.dtype().bits());
  if (int c = compareArgs(a.arg(), b.arg())) return c;
  if (a.srcCount() != b.srcCount()) return compareValues(a.srcCount(), b.srcCount());
  if (depth == 0) return 0;
  for (size_t i = 0; i < a.srcCount(); ++i)
    if (int c = compareTo(a.src(i), b.src(i), depth - 1)) return c;
  return compareArgs(a.tag(), b.tag());
}

/// The term without its constant factor; the order of terms compares this.
UOp termBase(UOp term) {
  return term.is(Op::MUL) && isIntConst(term.src(1)) ? term.src(0) : term;
}

/// Whether `u` is an operation that linearOf() takes apart.
bool isSumPart(UOp u) {
  switch (u.op()) {
  case Op::ADD:
  case Op::SUB:
  case Op::NEG: return true;
  case Op::MUL: return isIntConst(u.src(0)) || isIntConst(u.src(1));
  case Op::CONST: return u.arg().kind() == ArgKind::Int;
  default: return false;
  }
}

/// Whether the node may be a term of a normal sum: it is no sum itself, and its factor comes last and is not
/// 1.
bool isNormalTerm(UOp term) {
  if (term.is(Op::MUL) && isIntConst(term.src(1))) {
    int64_t f = term.src(1).arg().i();
    return f != 0 && f != 1 && !isSumPart(term.src(0));
  }
  return !isSumPart(term);
}

/// The cache of sums recently found normal, keyed by pool and id.
bool& rememberedNormal(UOp u, bool& hit) {
  struct Slot {
    uint32_t pool, id;
    bool normal;
  };
  constexpr size_t kSlots = 4096;
  static thread_local std::vector<Slot> slots(kSlots, Slot{~0u, ~0u, false});
  Slot& s = slots[(u.id() * 0x9E3779B1u ^ u.node()->pool->serial()) % kSlots];
  hit = s.pool == u.node()->pool->serial() && s.id == u.id();
  if (!hit) s = {u.node()->pool->serial(), u.id(), false};
  return s.normal;
}

} // namespace

int compareNodes(UOp a, UOp b) {
  if (a == b) return 0;
  if (int c = compareTo(a, b, kCompareDepth)) return c;
  return compareValues(a.id(), b.id());
}

UOp Linear::termUOp(const Term& t) const {
  if (t.factor == 1) return t.node;
  return UOp::make(Op::MUL, dtype, {t.node, UOp::constant(dtype, t.factor)});
}

UOp Linear::toUOp() const {
  UOp sum;
  for (const Term& t : terms) {
    UOp term = termUOp(t);
    sum = sum ? UOp::make(Op::ADD, dtype, {sum, term}) : term;
  }
  if (!sum) return UOp::constant(dtype, constant);
  return constant ? UOp::make(Op::ADD, dtype, {sum, UOp::constant(dtype, constant)}) : sum;
}

bool normalize(Linear& sum) {
  std::vector<Term> terms = sum.terms;
  // Sorting by id first is cheap and brings equal nodes together. Content then decides the order of the terms
  // left.
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.node.id() < b.node.id(); });
  size_t n = 0;
  for (const Term& t : terms) {
    if (n && terms[n - 1].node == t.node) {
      if (__builtin_add_overflow(terms[n - 1].factor, t.factor, &terms[n - 1].factor)) return false;
    } else {
      terms[n++] = t;
    }
  }
  terms.resize(n);
  std::erase_if(terms, [](const Term& t) { return t.factor == 0; });
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compareNodes(a.node, b.node) < 0; });
  sum.terms = std::move(terms);
  return true;
}

Linear linearOf(UOp sum) {
  Linear result;
  result.dtype = sum.dtype();
  std::vector<Term> stack{{sum, 1}};
  while (!stack.empty()) {
    Term t = stack.back();
    stack.pop_back();
    UOp u = t.node;
    int64_t f = 0;
    switch (isSumPart(u) ? u.op() : Op::NOOP) {
    case Op::ADD:
      stack.push_back({u.src(1), t.factor});
      stack.push_back({u.src(0), t.factor});
      continue;
    case Op::SUB:
      if (__builtin_sub_overflow(0, t.factor, &f)) break;
      stack.push_back({u.src(1), f});
      stack.push_back({u.src(0), t.factor});
      continue;
    case Op::NEG:
      if (__builtin_sub_overflow(0, t.factor, &f)) break;
      stack.push_back({u.src(0), f});
      continue;
    case Op::MUL: {
      size_t at = isIntConst(u.src(1)) ? 1 : 0;
      if (__builtin_mul_overflow(t.factor, u.src(at).arg().i(), &f)) break;
      if (f) stack.push_back({u.src(1 - at), f});
      continue;
    }
    case Op::CONST:
      if (__builtin_mul_overflow(t.factor, u.arg().i(), &f) || __builtin_add_overflow(result.constant, f, &f))
        break;
      result.constant = f;
      continue;
    default: break;
    }
    result.terms.push_back(t);
  }
  if (!normalize(result)) return {{{sum, 1}}, 0, sum.dtype()};
  return result;
}

bool isNormalSum(UOp u, size_t limit) {
  if (!u.is(Op::ADD)) return isIntConst(u) || isNormalTerm(u);
  bool hit;
  bool& remembered = rememberedNormal(u, hit);
  if (hit && remembered) return true;
  UOp at = u;
  if (isIntConst(at.src(1))) {
    if (at.src(1).arg().i() == 0) return false;
    at = at.src(0);
  }
  size_t seen = 0;
  for (; at.is(Op::ADD); at = at.src(0)) {
    if (++seen > limit) return true;
    UOp right = at.src(1), left = at.src(0).is(Op::ADD) ? at.src(0).src(1) : at.src(0);
    if (!isNormalTerm(right) || compareNodes(termBase(left), termBase(right)) >= 0) return false;
  }
  bool normal = isNormalTerm(at);
  rememberedNormal(u, hit) = normal;
  return normal;
}

bool isLongSum(UOp u, size_t limit) {
  size_t n = 0;
  for (; u.is(Op::ADD) || u.is(Op::MUL); u = u.src(0))
    if (++n > limit) return true;
  return false;
}

UOp addTerms(UOp a, UOp b) {
  return linearOf(UOp::make(Op::ADD, a.dtype(), {a, b})).toUOp();
}

std::vector<UOp> factorsOf(UOp product, int64_t& constant) {
  std::vector<UOp> factors, stack{product};
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    int64_t c;
    if (u.is(Op::MUL)) {
      stack.push_back(u.src(1));
      stack.push_back(u.src(0));
    } else if (isIntConst(u) && !__builtin_mul_overflow(constant, u.arg().i(), &c)) {
      constant = c;
    } else {
      factors.push_back(u);
    }
  }
  return factors;
}

UOp multiplyTerms(UOp a, UOp b) {
  Linear x = linearOf(a), y = linearOf(b);
  if (x.isConst()) std::swap(x, y);
  if (y.isConst())
    return linearOf(UOp::make(Op::MUL, a.dtype(), {a.isConst() ? b : a, a.isConst() ? a : b})).toUOp();
  int64_t constant = 1;
  std::vector<UOp> factors = factorsOf(x.toUOp(), constant);
  for (UOp f : factorsOf(y.toUOp(), constant)) factors.push_back(f);
  std::sort(factors.begin(), factors.end(), [](UOp p, UOp q) { return compareNodes(p, q) < 0; });
  UOp product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) product = UOp::make(Op::MUL, a.dtype(), {product, factors[i]});
  return Linear{{{product, constant}}, 0, a.dtype()}.toUOp();
}

UOp divideTerms(UOp a, UOp b) {
  Linear x = linearOf(a), y = linearOf(b);
  if (y.isConst()) {
    int64_t d = y.constant;
    if (d == 0 || d == -1 || x.constant % d) return {};
    for (Term& t : x.terms) {
      if (t.factor % d) return {};
      t.factor /= d;
    }
    x.constant /= d;
    return x.toUOp();
  }
  // The divisor is a single product: each of its factors must divide every term.
  if (y.terms.size() != 1 || y.constant != 0) return a == b ? UOp::constant(a.dtype(), int64_t{1}) : UOp{};
  int64_t divisorConst = y.terms[0].factor;
  int64_t unused = 1;
  std::vector<UOp> divisors = factorsOf(y.terms[0].node, unused);
  if (unused != 1 || divisorConst == 0 || x.constant != 0) return {};
  Linear quotient;
  quotient.dtype = a.dtype();
  for (const Term& t : x.terms) {
    if (divisorConst == -1 || t.factor % divisorConst) return {};
    std::vector<UOp> factors = factorsOf(t.node, unused);
    if (unused != 1) return {};
    for (UOp d : divisors) {
      auto it = std::find(factors.begin(), factors.end(), d);
      if (it == factors.end()) return {};
      factors.erase(it);
    }
    int64_t factor = t.factor / divisorConst;
    if (factors.empty()) {
      if (__builtin_add_overflow(quotient.constant, factor, &quotient.constant)) return {};
      continue;
    }
    UOp product = factors[0];
    for (size_t i = 1; i < factors.size(); ++i)
      product = UOp::make(Op::MUL, a.dtype(), {product, factors[i]});
    quotient.terms.push_back({product, factor});
  }
  if (!normalize(quotient)) return {};
  return quotient.toUOp();
}

} // namespace uopscope
