// Builders of nodes: constants, ranges, memory accesses, arithmetic.
#include "engine/uop/uop.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uopscope {

UOp UOp::make(Op op, DType dtype, std::span<const UOp> src, Arg arg, Arg tag) {
  return Pool::current().make(op, dtype, src, arg, tag);
}

UOp UOp::constant(DType dtype, ConstValue value) {
  const int lanes = dtype.isPtr() ? 1 : dtype.count();
  if (value.isInvalid()) return make(Op::CONST, dtypes::index.vec(lanes), {}, Arg::invalid());
  DType one = dtype.scalar();
  Arg arg;
  if (one.isBool())
    arg = Arg::ofBool(value.kind == ConstValue::Kind::Float ? value.f != 0 : value.i != 0);
  else if (one.isFloat())
    arg = Arg::of(dtypes::roundFloat(one, value.asDouble()));
  else
    arg = Arg::of(dtypes::wrapInt(one, value.kind == ConstValue::Kind::Float ? static_cast<int64_t>(value.f)
                                                                             : value.i));
  return make(Op::CONST, one.vec(lanes), {}, arg);
}

UOp UOp::range(UOp end, std::vector<int64_t> ids, AxisType type, DType dtype) {
  return make(Op::RANGE, dtype, {end}, Arg::of(RangeArg{std::move(ids), type}));
}
UOp UOp::range(int64_t end, int64_t id, AxisType type, DType dtype) {
  return range(constant(dtype, end), {id}, type, dtype);
}
UOp UOp::variable(std::string_view name, int64_t vmin, int64_t vmax, DType dtype) {
  if (vmin > vmax)
    throw Error(ErrorKind::Value, fmt::format("variable {} has no values: {} > {}", name, vmin, vmax));
  return make(Op::DEFINE_VAR, dtype, {}, Arg::of(VarArg{std::string(name), vmin, vmax}));
}
UOp UOp::special(UOp end, std::string_view name, DType dtype) {
  return make(Op::SPECIAL, dtype, {end}, Arg::of(name));
}
UOp UOp::sink(std::span<const UOp> src, Arg arg) {
  return make(Op::SINK, dtypes::void_, src, arg);
}
UOp UOp::vectorize(std::span<const UOp> scalars) {
  if (scalars.size() == 1) return scalars[0];
  DType lane = scalars.empty() ? dtypes::void_ : scalars[0].dtype();
  return make(Op::VECTORIZE, lane.vec(static_cast<int>(scalars.size())), scalars);
}
UOp UOp::groupOf(std::span<const UOp> effects) {
  return effects.size() == 1 ? effects[0] : make(Op::GROUP, dtypes::void_, effects);
}

UOp UOp::alu(Op op, std::span<const UOp> others) const {
  std::array<UOp, 4> src{*this};
  if (others.size() > 3) throw Error(ErrorKind::Value, fmt::format("{} has at most 4 operands", opName(op)));
  std::copy(others.begin(), others.end(), src.begin() + 1);
  DType type = others.empty() ? dtype() : others.back().dtype();
  if (group::kComparison.has(op)) type = dtypes::bool_.vec(type.count());
  return make(op, type, std::span<const UOp>(src.data(), others.size() + 1));
}
UOp UOp::cast(DType d) const {
  if (d == dtype()) return *this;
  return make(Op::CAST, d, {*this});
}
UOp UOp::bitcast(DType d) const {
  return d == dtype() ? *this : make(Op::BITCAST, d, {*this});
}
UOp UOp::gep(std::vector<int64_t> lanes) const {
  int n = static_cast<int>(lanes.size());
  if (n == 1 && dtype().vcount() == 1 && lanes[0] == 0) return *this;
  return make(Op::GEP, dtype().isPtr() ? dtype().vec(n) : dtype().scalar().vec(n), {*this},
              Arg::of(std::move(lanes)));
}
UOp UOp::broadcast(int n) const {
  if (n != 1 && isConst() && !srcCount() && dtype().count() == 1) return withDtype(dtype().vec(n));
  return n == 1 ? *this : vectorize(std::vector<UOp>(static_cast<size_t>(n), *this));
}

UOp UOp::load(std::vector<UOp> more, DType d) const {
  more.insert(more.begin(), *this);
  return make(Op::LOAD, d.isVoid() ? dtype().base() : d, more);
}
UOp UOp::store(UOp value, std::vector<UOp> more) const {
  more.insert(more.begin(), {*this, value});
  return make(Op::STORE, dtypes::void_, more);
}
UOp UOp::indexed(std::vector<UOp> indices, DType d) const {
  indices.insert(indices.begin(), *this);
  return make(Op::INDEX, d.isVoid() ? dtype() : d, indices);
}
UOp UOp::end(std::span<const UOp> ranges) const {
  if (ranges.empty()) return *this;
  std::vector<UOp> src{*this};
  src.insert(src.end(), ranges.begin(), ranges.end());
  return make(Op::END, dtypes::void_, src);
}
UOp UOp::after(std::span<const UOp> effects) const {
  if (effects.empty()) return *this;
  std::vector<UOp> src{*this};
  src.insert(src.end(), effects.begin(), effects.end());
  return make(Op::AFTER, dtype(), src);
}
UOp UOp::reduce(Op op, std::span<const UOp> ranges) const {
  if (ranges.empty()) return *this;
  std::vector<UOp> src{*this};
  src.insert(src.end(), ranges.begin(), ranges.end());
  return make(Op::REDUCE, dtype(), src, Arg::of(op));
}
UOp UOp::validWhere(UOp gate) const {
  return gate.alu(Op::WHERE, {*this, invalid().broadcast(dtype().count())});
}
UOp UOp::logicalNot() const {
  if (!dtype().isBool()) return cast(dtypes::bool_.vec(dtype().count())).logicalNot();
  return alu(Op::CMPNE, {constLike(int64_t{1})});
}
UOp UOp::minimum(UOp o) const {
  if (dtype().isBool()) return *this & o;
  if (dtype().isUnsigned()) return (*this < o).where(*this, o);
  return -(-*this).maximum(-o);
}

void UOp::throwNoSource(size_t i) const {
  throw Error(ErrorKind::Spec, fmt::format("{} {} has {} source{}: there is no source {}", opName(op()), id(),
                                           srcCount(), srcCount() == 1 ? "" : "s", i));
}

UOp UOp::bufferOf() const {
  constexpr OpSet kMemory{Op::DEFINE_GLOBAL, Op::DEFINE_LOCAL, Op::DEFINE_REG, Op::BUFFER, Op::BUFFER_VIEW};
  UOp u = *this;
  while (!u.in(kMemory) && u.srcCount()) u = u.src(0);
  return u;
}

UOp operator+(UOp x, UOp y) {
  return x.alu(Op::ADD, {y});
}
UOp operator-(UOp x, UOp y) {
  return x.alu(Op::ADD, {-y});
}
UOp operator*(UOp x, UOp y) {
  return x.alu(Op::MUL, {y});
}
UOp operator/(UOp x, UOp y) {
  if (x.dtype().isFloat()) return x * y.alu(Op::RECIPROCAL);
  return x.alu(Op::IDIV, {y});
}
UOp operator%(UOp x, UOp y) {
  return x.alu(Op::MOD, {y});
}
UOp operator&(UOp x, UOp y) {
  return x.alu(Op::AND, {y});
}
UOp operator|(UOp x, UOp y) {
  return x.alu(Op::OR, {y});
}
UOp operator^(UOp x, UOp y) {
  return x.alu(Op::XOR, {y});
}
UOp operator<(UOp x, UOp y) {
  return x.alu(Op::CMPLT, {y});
}
UOp operator>=(UOp x, UOp y) {
  return (x < y).logicalNot();
}
UOp operator-(UOp x) {
  return x.dtype().isBool() ? x.logicalNot() : x * x.constLike(int64_t{-1});
}
UOp operator+(UOp x, int64_t y) {
  return x + x.constLike(y);
}
UOp operator-(UOp x, int64_t y) {
  return x + x.constLike(-y);
}
UOp operator*(UOp x, int64_t y) {
  return x * x.constLike(y);
}
UOp operator/(UOp x, int64_t y) {
  return x / x.constLike(y);
}
UOp operator%(UOp x, int64_t y) {
  return x % x.constLike(y);
}
UOp operator<(UOp x, int64_t y) {
  return x < x.constLike(y);
}
UOp operator>=(UOp x, int64_t y) {
  return x >= x.constLike(y);
}
UOp ne(UOp x, UOp y) {
  return x.alu(Op::CMPNE, {y});
}
UOp eq(UOp x, UOp y) {
  return ne(x, y).logicalNot();
}

} // namespace uopscope
