// Builds linear programs by hand, so that renderers and devices are tested without the passes before them.
//
//   LinearProgram p("E_4");
//   UOp out = p.global(0, dtypes::float32, 4), in = p.global(1, dtypes::float32, 4);
//   UOp i = p.range(4, 0);
//   p.store(out, i, p.add(Op::NEG, dtypes::float32, {p.load(in, i)}));
//   p.end(i);
//   LoweredKernel k = p.finish();
#pragma once
#include "engine/codegen/codegen.h"

#include <algorithm>

namespace uopscope::test {

class LinearProgram {
public:
  explicit LinearProgram(std::string name) : scope_(*(kernel_.pool = std::make_shared<Pool>())) {
    kernel_.name = std::move(name);
  }

  UOp add(Op op, DType dtype, std::vector<UOp> src = {}, Arg arg = {}) {
    for (UOp s : src)
      if (s.isConst() && !std::count(kernel_.uops.begin(), kernel_.uops.end(), s)) kernel_.uops.push_back(s);
    UOp u = UOp::make(op, dtype, src, arg);
    if (u.is(Op::STORE) || u.is(Op::END) || !std::count(kernel_.uops.begin(), kernel_.uops.end(), u))
      kernel_.uops.push_back(u);
    return u;
  }
  UOp constant(DType dtype, ConstValue v) { return add(Op::CONST, dtype, {}, Arg::of(v)); }
  UOp i32(int64_t v) { return constant(dtypes::int32, ConstValue::ofInt(v)); }
  UOp global(int position, DType element, int64_t size) {
    kernel_.globals.push_back(position);
    return add(Op::DEFINE_GLOBAL, element.ptr(size), {}, Arg::of(int64_t{position}));
  }
  UOp reg(DType element, int64_t size, int64_t number = 0) {
    return add(Op::DEFINE_REG, element.ptr(size, AddrSpace::Reg), {}, Arg::of(number));
  }
  UOp variable(const char* name, int64_t low, int64_t high) {
    UOp v = add(Op::DEFINE_VAR, dtypes::int32, {}, Arg::of(VarArg{name, low, high}));
    kernel_.vars.push_back(v);
    return v;
  }
  UOp range(UOp extent, int64_t id, AxisType type = AxisType::Loop) {
    return add(Op::RANGE, dtypes::int32, {extent}, Arg::of(RangeArg{{id}, type}));
  }
  UOp range(int64_t extent, int64_t id, AxisType type = AxisType::Loop) {
    return range(i32(extent), id, type);
  }
  UOp index(UOp memory, UOp at, UOp gate = {}) {
    return gate ? add(Op::INDEX, memory.dtype(), {memory, at, gate})
                : add(Op::INDEX, memory.dtype(), {memory, at});
  }
  UOp pointerTo(UOp memory, UOp at, int lanes, UOp gate = {}) {
    UOp p = index(memory, at, gate);
    return lanes == 1
               ? p
               : add(Op::CAST,
                     memory.dtype().base().vec(lanes).ptr(memory.dtype().size(), memory.dtype().addrspace()),
                     {p});
  }
  UOp load(UOp memory, UOp at, int lanes = 1) {
    return add(Op::LOAD, memory.dtype().base().vec(lanes), {pointerTo(memory, at, lanes)});
  }
  UOp gatedLoad(UOp memory, UOp at, UOp gate, UOp otherwise) {
    return add(Op::LOAD, otherwise.dtype(),
               {pointerTo(memory, at, otherwise.dtype().count(), gate), otherwise});
  }
  UOp store(UOp memory, UOp at, UOp value) {
    return last_ = add(Op::STORE, dtypes::void_, {pointerTo(memory, at, value.dtype().count()), value});
  }
  void end(UOp range) { add(Op::END, dtypes::void_, {last_ ? last_ : range, range}); }

  LoweredKernel& kernel() { return kernel_; }
  LoweredKernel finish() {
    kernel_.sink = UOp::sink(std::span<const UOp>(&kernel_.uops.back(), 1));
    kernel_.uops.push_back(kernel_.sink);
    std::sort(kernel_.globals.begin(), kernel_.globals.end());
    return kernel_;
  }

private:
  LoweredKernel kernel_;
  PoolScope scope_;
  UOp last_;
};

} // namespace uopscope::test
