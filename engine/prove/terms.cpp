// Translates nodes to terms.
#ifdef UOPSCOPE_HAVE_Z3
#include "engine/prove/terms.h"

#include "engine/prove/solver.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::prove {

namespace {

unsigned widthOf(DType d) {
  return d.kind() == Scalar::Index ? 64u : static_cast<unsigned>(d.bitsize());
}

/// Whether it is an access of a single lane with a single index, which may be gated.
bool hasPlainAddress(UOp u) {
  if (u.is(Op::LOAD)) u = u.src(0);
  bool gated = u.srcCount() == 3 && u.src(2).dtype().isBool();
  return u.is(Op::INDEX) && u.srcCount() == (gated ? 3u : 2u) && u.src(1).dtype().count() == 1;
}

std::string nameOf(UOp u) {
  return fmt::format("{}:{}", opName(u.op()), u.arg().encode());
}

/// The source that a node has the value of, whatever it says of order, memory or device; null if there is none.
UOp valueOf(UOp u) {
  constexpr OpSet kKeeping =
      group::kMarkers | OpSet{Op::CONTIGUOUS, Op::COPY, Op::NOOP, Op::AFTER, Op::GROUP};
  const size_t at = u.is(Op::ASSIGN) ? 1 : 0;
  const bool keeps = (u.in(kKeeping) && (!u.is(Op::GROUP) || u.srcCount() == 1)) || u.is(Op::ASSIGN);
  if (!keeps || u.srcCount() <= at) return {};
  const DType type = u.src(at).dtype();
  return type.isVoid() || type.isPtr() ? UOp() : u.src(at);
}

} // namespace

z3::sort Terms::sortOf(DType d) {
  if (d.isBool()) return c_.bool_sort();
  if (isBits(d)) return c_.bv_sort(widthOf(d));
  if (d.isInt()) return c_.int_sort();
  if (d.isFloat()) return c_.uninterpreted_sort(d.scalar().name().c_str());
  throw NoTerm{fmt::format("{} has no values", d.name())};
}

z3::expr Terms::number(DType d, const ConstValue& v) {
  if (v.isInvalid()) return c_.constant(fmt::format("Invalid {}", d.scalar().name()).c_str(), sortOf(d));
  if (d.isBool()) return c_.bool_val(v.asDouble() != 0);
  if (d.isFloat())
    return c_.constant(fmt::format("{} {}", v.f == 0 ? 0.0 : v.f, d.scalar().name()).c_str(), sortOf(d));
  if (isBits(d)) return c_.bv_val(v.i, widthOf(d));
  return d.kind() == Scalar::UInt64 ? c_.int_val(static_cast<uint64_t>(v.i)) : c_.int_val(v.i);
}

bool Terms::isShared(UOp u) const {
  return numbers_ != Numbers::IndexUnbounded && u.in(kLeaves) && u.dtype().isInt();
}

/// The term of an unknown node. The same node has the same term, and so has a shared leaf of the same name.
z3::expr Terms::unknown(UOp u, size_t lane) {
  bool shared = isShared(u);
  std::string name =
      shared ? nameOf(u) : fmt::format("#{} {} {}", u.id(), u.in(kLeaves) ? u.render() : "", lane);
  auto found = named_.find(name);
  if (found == named_.end()) {
    z3::expr made = shared && numbers_ == Numbers::Bits ? c_.bv_const(name.c_str(), 64)
                                                        : c_.constant(name.c_str(), sortOf(u.dtype()));
    found = named_.emplace(name, made).first;
    if (u.in(kLeaves)) leaves_.emplace_back(u, made);
  }
  if (!shared || numbers_ == Numbers::Wrapped) return found->second;
  unsigned width = widthOf(u.dtype());
  return width == 64 ? found->second : found->second.extract(width - 1, 0);
}

z3::expr Terms::function(const std::string& name, const std::vector<z3::expr>& operands, DType result) {
  z3::sort_vector domain(c_);
  z3::expr_vector arguments(c_);
  for (const z3::expr& e : operands) {
    domain.push_back(e.get_sort());
    arguments.push_back(e);
  }
  return c_.function(name.c_str(), domain, sortOf(result))(arguments);
}

const Lanes& Terms::of(UOp root) {
  if (auto it = known_.find(root.id()); it != known_.end()) return it->second;
  // Sources come first, so a long chain needs no recursion. Both branches of a WHERE are computed.
  for (UOp u : root.toposort([&](UOp n) { return !known_.contains(n.id()); }))
    if (!known_.contains(u.id()) && (u == root || (!u.dtype().isVoid() && !u.dtype().isPtr())))
      known_.emplace(u.id(), compute(u));
  return known_.at(root.id());
}

Lanes Terms::compute(UOp u) {
  if (u.is(Op::CONST)) {
    Lane lane = plain(number(u.dtype(), u.constValue()));
    lane.valid = c_.bool_val(!u.isInvalidConst());
    return Lanes(static_cast<size_t>(u.dtype().count()), lane);
  }
  if (u.is(Op::VCONST)) {
    Lanes out;
    for (const ConstValue& v : u.arg().as<std::vector<ConstValue>>())
      out.push_back(plain(number(u.dtype(), v)));
    return out;
  }
  if (u.in(kLeaves)) return leaf(u);
  if (u.in({Op::VECTORIZE, Op::CAT})) {
    Lanes out;
    for (UOp s : u.src())
      for (const Lane& l : of(s)) out.push_back(l);
    return out;
  }
  if (u.is(Op::GEP) && u.arg().kind() == ArgKind::Ints) {
    Lanes out;
    const Lanes& from = of(u.src(0));
    for (int64_t i : u.arg().ints()) {
      if (i < 0 || static_cast<size_t>(i) >= from.size()) throw NoTerm{"a lane that is not there"};
      out.push_back(from[static_cast<size_t>(i)]);
    }
    return out;
  }
  if (u.is(Op::BIND)) return of(u.src(u.srcCount() > 1 ? 1 : 0));
  if (UOp same = valueOf(u)) return of(same);
  if (u.in(group::kElementwise)) return elementwise(u);
  if (u.in({Op::INDEX, Op::LOAD}) && !u.dtype().isPtr() && (u.dtype().count() != 1 || !hasPlainAddress(u)))
    return unknownLanes(u);
  if (u.is(Op::INDEX)) {
    Access a = accessOf(u);
    if (u.dtype().isPtr()) return {{a.index, a.valid, a.defined}};
    z3::expr zero = number(u.dtype(), u.dtype().isFloat() ? ConstValue::ofFloat(0) : ConstValue::ofInt(0));
    return {{z3::ite(a.valid, z3::select(a.memory, a.index), zero), c_.bool_val(true), a.defined}};
  }
  if (u.is(Op::LOAD)) return load(u);
  if (u.is(Op::STORE)) return store(u);
  if (u.dtype().isVoid() || u.dtype().isPtr()) throw NoTerm{fmt::format("{} has no value", opName(u.op()))};
  return unknownLanes(u);
}

/// Unknown values for a node: equal nodes have equal values.
Lanes Terms::unknownLanes(UOp u) {
  Lanes out;
  for (int l = 0; l < u.dtype().count(); ++l) out.push_back(plain(unknown(u, static_cast<size_t>(l))));
  return out;
}

Lanes Terms::leaf(UOp u) {
  Lanes out;
  DType d = u.dtype();
  for (int l = 0; l < d.count(); ++l) {
    z3::expr v = unknown(u, static_cast<size_t>(l));
    out.push_back(plain(v));
    if (!d.isInt()) continue;
    int64_t low = u.vmin(), high = u.vmax();
    if (!isBits(d)) {
      z3::expr top =
          d.kind() == Scalar::UInt64 && high == INT64_MAX ? c_.int_val(UINT64_MAX) : c_.int_val(high);
      bounds_.push_back(c_.int_val(low) <= v && v <= top);
    } else if (d.isUnsigned()) {
      bounds_.push_back(z3::uge(v, number(d, ConstValue::ofInt(low))));
      if (d.kind() != Scalar::UInt64 || high != INT64_MAX)
        bounds_.push_back(z3::ule(v, number(d, ConstValue::ofInt(high))));
    } else {
      bounds_.push_back(v >= number(d, ConstValue::ofInt(low)) && v <= number(d, ConstValue::ofInt(high)));
    }
    if (numbers_ == Numbers::Bits) { // the shared number lies within the type
      z3::expr whole = named_.at(nameOf(u));
      bounds_.push_back(whole >= c_.bv_val(low, 64) && whole <= c_.bv_val(high, 64));
    }
    if (u.srcCount() && !u.src(0).isConst() && u.src(0).dtype() == d)
      bounds_.push_back(compared(Op::CMPLT, d, v, of(u.src(0)).front().value));
  }
  return out;
}

Lane Terms::choose(const Lane& condition, const Lane& a, const Lane& b) {
  const z3::expr& when = condition.value;
  return {z3::ite(when, a.value, b.value), condition.valid && z3::ite(when, a.valid, b.valid),
          condition.defined && z3::ite(when, a.defined, b.defined)};
}

Lanes Terms::elementwise(UOp u) {
  Lanes out;
  if (u.dtype().isPtr()) throw NoTerm{"arithmetic on pointers"};
  for (size_t l = 0; l < static_cast<size_t>(u.dtype().count()); ++l) {
    auto lane = [&](size_t i) -> const Lane& {
      const Lanes& from = of(u.src(i));
      if (from.size() != 1 && l >= from.size()) throw NoTerm{"lanes that do not fit"};
      return from[from.size() == 1 ? 0 : l];
    };
    if (u.is(Op::WHERE)) {
      out.push_back(choose(lane(0), lane(1), lane(2)));
      continue;
    }
    std::vector<z3::expr> v;
    z3::expr valid = c_.bool_val(true), defined = c_.bool_val(true);
    for (size_t i = 0; i < u.srcCount(); ++i) {
      v.push_back(lane(i).value);
      valid = valid && lane(i).valid;
      defined = defined && lane(i).defined;
    }
    z3::expr value = alu(u, v, defined);
    out.push_back({value, valid, defined});
  }
  return out;
}

Terms::Access Terms::accessOf(UOp at) {
  if (at.is(Op::CAST)) at = at.src(0);
  if (!at.is(Op::INDEX) || at.srcCount() < 2) throw NoTerm{fmt::format("an address by {}", opName(at.op()))};
  bool gated = at.srcCount() == 3 && at.src(2).dtype().isBool();
  if (at.srcCount() != (gated ? 3u : 2u)) throw NoTerm{"an address of several indices"};
  const Lanes& index = of(at.src(1));
  if (index.size() != 1) throw NoTerm{"an address of several lanes"};
  z3::expr valid = index[0].valid, defined = index[0].defined;
  if (gated) {
    const Lane& gate = of(at.src(2)).front();
    valid = valid && gate.value && gate.valid;
    defined = defined && gate.defined;
  }
  z3::sort element = sortOf(at.src(0).dtype().scalar());
  std::string name = fmt::format("memory {} {}", at.src(0).id(), at.src(1).dtype().name());
  z3::expr memory = c_.constant(name.c_str(), c_.array_sort(index[0].value.get_sort(), element));
  return {memory, index[0].value, valid, defined};
}

Lanes Terms::load(UOp u) {
  if (u.dtype().count() != 1) throw NoTerm{"a load of several lanes"};
  Access a = accessOf(u.src(0));
  bool alternative = u.srcCount() > 1 && u.src(1).dtype() == u.dtype();
  Lane other =
      alternative
          ? of(u.src(1)).front()
          : plain(number(u.dtype(), u.dtype().isFloat() ? ConstValue::ofFloat(0) : ConstValue::ofInt(0)));
  return {{z3::ite(a.valid, z3::select(a.memory, a.index), other.value), c_.bool_val(true),
           a.defined && other.defined}};
}

Lanes Terms::store(UOp u) {
  if (u.src(1).dtype().count() != 1) throw NoTerm{"a store of several lanes"};
  Access a = accessOf(u.src(0));
  const Lane& value = of(u.src(1)).front();
  return {{z3::ite(a.valid, z3::store(a.memory, a.index, value.value), a.memory), c_.bool_val(true),
           a.defined && value.defined}};
}

Lanes Terms::memoryBefore(UOp access) {
  return {plain(accessOf(access.src(0)).memory)};
}

} // namespace uopscope::prove
#endif
