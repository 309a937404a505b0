// Steps on several devices, and kernels given by hand. A value is split over two or three devices (or copied to
// each), computed on there and brought back. A custom kernel is a graph of loops and stores that no schedule
// made.
//
//   shard 3 1 0 2      v2 split along axis 0 over two devices, summed there
//   kernel 3 2         rows of v2 added up by loops of the step
#pragma once
#include "tests/fuzz/reduce_steps.h"

namespace uopscope::fuzz {

inline void shardStep(State& s) {
  const Value* v = s.pick();
  if (!v || v->tensor.ndim() == 0 || v->tensor.intNumel() > 4000) return;
  const Tensor& a = v->tensor;
  Precision p = v->precision;
  std::vector<std::string> devices;
  const auto count = static_cast<int64_t>(2 + s.choose(2));
  for (int64_t i = 1; i <= count; ++i) devices.push_back(fmt::format("{}:{}", s.device(), i));
  const int64_t axis = s.axisOf(a), size = a.intShape()[static_cast<size_t>(axis)];
  std::optional<int64_t> split;
  if (size && size % count == 0 && s.choose(5)) split = axis;
  Tensor t = a.shard(devices, split);
  const DType d = t.dtype();
  const std::string of = fmt::format(" of {} on {} devices, {}", nameOf(*v), count,
                                     split ? fmt::format("split along {}", axis) : "a copy on each");
  const uint32_t which = s.choose(7), seed = s.number();
  const int64_t other = static_cast<int64_t>(seed % static_cast<uint32_t>(a.ndim()));
  auto back = [&](const Tensor& x, Precision q, const std::string& text) {
    s.push(x.to(s.device()), q, text + of);
  };
  switch (which) {
  case 0: return back(t, p, "a copy");
  case 1: return d.isBool() ? void() : back(t + t, sumOf(p, p, d), "twice");
  case 2: {
    if (d.isBool()) return;
    const int64_t n = a.intShape()[static_cast<size_t>(other)];
    const Tensor sum = t.sum(std::vector<int64_t>{other}, seed % 2 != 0);
    return back(sum, sumOfMany(p, std::max<int64_t>(n, 1), sum.dtype()), fmt::format("sum({})", other));
  }
  case 3: {
    if (d.isBool()) return;
    const Tensor sum = t.sum();
    return back(sum, sumOfMany(p, std::max<int64_t>(a.intNumel(), 1), sum.dtype()), "sum");
  }
  case 4: {
    if (!a.intShape()[static_cast<size_t>(other)]) return;
    return back(t.max(std::vector<int64_t>{other}), p, fmt::format("max({})", other));
  }
  case 5: {
    if (d.isBool() || d.isInt()) return;
    const Ints shape = a.intShape();
    const Tensor w = leafOf(s, {shape.back(), 3}, d, seed).shard(devices, {});
    const Precision r = productOf(p, leafPrecision(d), d);
    return back(t.matmul(w), sumOfMany(r, std::max<int64_t>(shape.back(), 1), d), "a product");
  }
  default: {
    if (d.isBool() || other == axis) return;
    return back(t.flip({other}) + t, sumOf(p, p, d), fmt::format("itself and its flip({})", other));
  }
  }
}

/// The loops of a kernel over n elements of tensor 1, which stores to tensor 0 (and 2).
struct KernelLoops {
  int64_t n;
  DType type;
  UOp parameter(int64_t number, int64_t size) const {
    return UOp::make(Op::DEFINE_GLOBAL, type.ptr(size), {}, Arg::of(number));
  }
  static UOp sink(const std::vector<UOp>& ends) {
    KernelInfo info;
    info.name = "by_hand";
    return UOp::sink(ends, Arg::of(info));
  }
  /// out[i] = in[n-1-i], or a constant beyond the middle.
  UOp reversed(bool half) const {
    const UOp to = parameter(0, n), from = parameter(1, n), r = UOp::range(n, 0);
    UOp value = from.indexed({UOp::index(n - 1) - r}, type);
    if (half) value = (r < UOp::index((n + 1) / 2)).where(value, UOp::constant(type, int64_t{1}));
    return sink({to.indexed({r}).store(value).end({r})});
  }
  /// out[i] = in[i] + in[i], second[i] = in[i] * in[i], in one loop.
  UOp twoOutputs() const {
    const UOp to = parameter(0, n), from = parameter(1, n), second = parameter(2, n), r = UOp::range(n, 0);
    const UOp value = from.indexed({r}, type);
    return sink(
        {to.indexed({r}).store(value + value).end({r}), second.indexed({r}).store(value * value).end({r})});
  }
  /// out[i] = sum of in[i*m .. i*m+m-1], by a REDUCE or by adding to memory step by step.
  UOp rowSums(int64_t m, bool inMemory) const {
    const UOp to = parameter(0, n / m), from = parameter(1, n), i = UOp::range(n / m, 0),
              j = UOp::range(m, 1, AxisType::Reduce);
    const UOp value = from.indexed({i * UOp::index(m) + j}, type);
    if (!inMemory) {
      const std::vector<UOp> over{j};
      return sink({to.indexed({i}).store(value.reduce(Op::ADD, over)).end({i})});
    }
    const std::vector<UOp> zero{to.indexed({i}).store(UOp::constant(type, int64_t{0}))};
    const UOp cleared = to.after(zero);
    const std::vector<UOp> step{j};
    const UOp sum = cleared.after(step).indexed({i}, type) + value;
    const std::vector<UOp> added{cleared.indexed({i}).store(sum).end({j})};
    return sink({cleared.after(added).end({i})});
  }
};

inline void kernelStep(State& s) {
  const Value* v = s.pick();
  if (!v || v->tensor.dtype().isBool() || v->tensor.dtype().itemsize() < 4) return;
  const int64_t n = v->tensor.intNumel();
  if (n < 1 || n > 4000) return;
  const uint32_t which = s.choose(5);
  PoolScope pool(tensorPool());
  const DType d = v->tensor.dtype();
  const KernelLoops loops{n, d};
  int64_t m = 1;
  for (int64_t f : {2, 3, 5, 7, 4, 16})
    if (n % f == 0 && s.choose(2)) m = f;
  const int64_t made = which >= 3 ? n / m : n;
  const UOp sink = which < 2   ? loops.reversed(which == 1)
                   : which < 3 ? loops.twoOutputs()
                               : loops.rowSums(m, which == 4);
  TensorOptions options;
  options.device = s.device();
  options.dtype = d;
  std::vector<UOp> src{sink};
  for (const int64_t size : {made, int64_t{0}, made}) {
    const Tensor t = size ? Tensor::empty({Sint(size)}, options) : v->tensor.reshape({Sint(n)});
    if (src.size() < (which == 2 ? 4u : 3u)) src.push_back(t.contiguous().uop());
  }
  const std::vector<UOp> kernel{UOp::make(Op::CUSTOM_KERNEL, dtypes::void_, src)};
  const Precision p = v->precision, one{0, 1, Precision::kNone};
  auto result = [&](size_t i, Precision q, const std::string& text) {
    s.push(Tensor::fromUOp(src[i].after(kernel)), q, fmt::format("kernel({}): {}", nameOf(*v), text));
  };
  switch (which) {
  case 0: return result(1, p, "reversed");
  case 1: return result(1, stored(eitherOf(p, one), d), "reversed, 1 beyond the middle");
  case 2: result(1, sumOf(p, p, d), "doubled"); return result(3, productOf(p, p, d), "squared");
  default: return result(1, sumOfMany(p, m, d), fmt::format("rows of {} added up", m));
  }
}

inline const std::vector<StepKind>& deviceSteps() {
  static const std::vector<StepKind> kinds{{"shard", 4, shardStep}, {"kernel", 3, kernelStep}};
  return kinds;
}

} // namespace uopscope::fuzz
