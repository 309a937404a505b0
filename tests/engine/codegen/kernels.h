// Kernels as a schedule makes them, for the tests of code generation, and targets for them.
#pragma once
#include "engine/codegen/codegen.h"
#include "engine/runtime/search.h"

#include <algorithm>
#include <functional>

namespace uopscope::testing {

inline Target plainTarget(int aluLanes = 1) {
  Target t;
  t.device = "CPU";
  t.suffix = "C";
  t.maxVectorLanes = 4;
  t.aluLanes = aluLanes;
  t.nativeOps = group::kAlu - OpSet{Op::THREEFRY, Op::POW, Op::FDIV, Op::MULACC, Op::TRUNC};
  return t;
}
inline UOp memory(int64_t position, int64_t size, DType d = dtypes::float32) {
  return UOp::make(Op::DEFINE_GLOBAL, d.ptr(size), {}, Arg::of(position));
}
/// A target whose vectors all have so many lanes; loads of elements of `smallestMasked` bytes and more have masks (0: none).
inline Target vectorTarget(int lanes, int smallestMasked = 0) {
  Target t = plainTarget(lanes);
  t.maxVectorLanes = lanes;
  t.maskedLoads = smallestMasked;
  return t;
}
inline UOp read(UOp buffer, UOp index) {
  return buffer.indexed({index}, buffer.dtype().base());
}
inline UOp kernel(const std::vector<UOp>& effects, const KernelInfo& info = {}) {
  return UOp::sink(effects, Arg::of(info));
}

/// out[i] = f(in[i])
inline UOp elementwise(int64_t n, const std::function<UOp(UOp)>& f, DType d = dtypes::float32) {
  UOp i = UOp::range(n, 0);
  UOp value = f(read(memory(1, n, d), i));
  return kernel({memory(0, n, value.dtype()).indexed({i}).store(value).end({i})});
}
/// out[i] = sum over k of in[i*cols + k]
inline UOp rowSums(int64_t rows, int64_t cols, Op op = Op::ADD, DType d = dtypes::float32) {
  UOp i = UOp::range(rows, 0), k = UOp::range(cols, 1, AxisType::Reduce);
  UOp value = read(memory(1, rows * cols, d), i * cols + k).reduce(op, std::vector<UOp>{k});
  return kernel({memory(0, rows, d).indexed({i}).store(value).end({i})});
}
inline UOp matmul(int64_t n, int64_t m, int64_t inner) {
  UOp i = UOp::range(n, 0), j = UOp::range(m, 1), k = UOp::range(inner, 2, AxisType::Reduce);
  UOp product = read(memory(1, n * inner), i * inner + k) * read(memory(2, inner * m), k * m + j);
  UOp sum = product.reduce(Op::ADD, std::vector<UOp>{k});
  return kernel({memory(0, n * m).indexed({i * m + j}).store(sum).end({i, j})});
}
/// Rows and columns of results, and terms; a is n by k and b k by m, and a transposed operand has the opposite order in memory.
inline UOp product(int64_t n, int64_t m, int64_t k, bool aTransposed, bool bTransposed, DType type) {
  UOp i = UOp::range(n, 0), j = UOp::range(m, 1), t = UOp::range(k, 2, AxisType::Reduce);
  UOp a = read(memory(1, n * k, type), aTransposed ? t * n + i : i * k + t);
  UOp b = read(memory(2, k * m, type), bTransposed ? j * k + t : t * m + j);
  return kernel({memory(0, n * m)
                     .indexed({i * m + j})
                     .store((a * b).cast(dtypes::float32).reduce(Op::ADD, std::vector<UOp>{t}))
                     .end({i, j})});
}
/// The same of square matrices.
inline UOp squareProduct(DType type, int64_t n, bool aTransposed = false, bool bTransposed = false) {
  return product(n, n, n, aTransposed, bTransposed, type);
}
/// Number of instructions of an operation.
inline int count(const LoweredKernel& k, Op op) {
  return static_cast<int>(std::ranges::count_if(k.uops, [&](UOp u) { return u.is(op); }));
}
/// Number of steps in the longest chain of loops around a store of results.
inline int64_t stepsOf(const LoweredKernel& k) {
  int64_t most = 0;
  for (UOp u : k.uops) {
    if (!u.is(Op::STORE)) continue;
    int64_t steps = 1;
    for (UOp r : u.ranges()) steps *= r.vmax() + 1;
    most = std::max(most, steps);
  }
  return most;
}

} // namespace uopscope::testing
