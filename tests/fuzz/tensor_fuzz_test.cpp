// Random tensor programs, CPU against the reference interpreter: types, awkward shapes (0, 1, odd), views,
// reductions. A failure is shrunk to its first wrong step and printed as the list of steps with the seed.
//   UOPSCOPE_FUZZ=5000 build/fuzz_tests            more programs
//   UOPSCOPE_FUZZ_SEED=17 build/fuzz_tests         one of them
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <random>

using namespace uopscope;

namespace {

/// Builds the same program for any device: all choices come from the seed and from shapes and types.
class Program {
public:
  Program(uint64_t seed, std::string device) : random_(seed), device_(std::move(device)) {
    for (int i = 0; i < 2; ++i) leaf();
  }

  void step() {
    const Tensor a = pick();
    switch (choose(13)) {
    case 0: return leaf();
    case 1: return push("add", a + like(a));
    case 2: return push("mul", a * like(a));
    case 3: return push("maximum", a.maximum(like(a)));
    case 4: return push("where", a.lt(like(a)).where(a, like(a)));
    case 5: return unary(a);
    case 6: return cast(a);
    case 7: return movement(a);
    case 8: return reduce(a);
    case 9: return a.ndim() ? push("cat", Tensor::cat({a, a}, axisOf(a))) : void();
    case 10: return matmul(a);
    case 11: return push("contiguous", a.contiguous());
    default: return integer(a);
    }
  }

  const std::vector<std::pair<std::string, Tensor>>& values() const { return values_; }

private:
  size_t choose(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  Tensor pick() { return values_[choose(values_.size())].second; }
  int64_t axisOf(const Tensor& t) {
    return t.ndim() ? static_cast<int64_t>(choose(static_cast<size_t>(t.ndim()))) : 0;
  }
  void push(std::string name, const Tensor& t) {
    if (t.intNumel() > 4000) return;
    values_.emplace_back(fmt::format("{} {} {}", name, shapeStr(t.shape()), t.dtype().name()), t);
  }

  void leaf() {
    constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 0};
    Ints shape;
    int64_t count = 1;
    for (size_t i = 0, n = 1 + choose(3); i < n; ++i) {
      shape.push_back(kSizes[choose(choose(8) ? 8 : 9)]);
      count *= shape.back();
    }
    constexpr DType kTypes[] = {dtypes::float32, dtypes::float32, dtypes::int32, dtypes::int8,
                                dtypes::uint8,   dtypes::int64,   dtypes::bool_};
    DType type = kTypes[choose(std::size(kTypes))];
    std::vector<double> data;
    for (int64_t i = 0; i < count; ++i)
      data.push_back(type.isFloat() ? static_cast<double>(choose(2001)) / 250.0 - 4
                                    : static_cast<double>(choose(100)));
    TensorOptions options;
    options.device = device_;
    options.dtype = type;
    push("leaf", Tensor::fromDoubles(data, shape, options));
  }
  /// A tensor of the same shape.
  Tensor like(const Tensor& a) {
    std::vector<Tensor> same;
    for (const auto& [name, t] : values_)
      if (t.shape() == a.shape()) same.push_back(t);
    return same[choose(same.size())];
  }
  void unary(const Tensor& a) {
    switch (choose(7)) {
    case 0: return push("neg", a.neg());
    case 1: return push("relu", a.relu());
    case 2: return push("abs sqrt", a.abs().sqrt());
    case 3: return push("exp2 of clamped", a.cast(dtypes::float32).clamp(Operand(-8.0), Operand(8.0)).exp2());
    case 4: return push("log2", (a.cast(dtypes::float32).abs() + 1).log2());
    case 5: return push("sin", a.cast(dtypes::float32).clamp(Operand(-30.0), Operand(30.0)).sin());
    default: return push("square", a.square());
    }
  }
  void cast(const Tensor& a) {
    // From float only after clamping: out of range is not defined alike by all hardware.
    constexpr DType kTo[] = {dtypes::float32, dtypes::int32,   dtypes::int16, dtypes::uint8,
                             dtypes::bool_,   dtypes::float16, dtypes::int64};
    Tensor safe = a.isFloat() ? a.clamp(Operand(0.0), Operand(100.0)) : a;
    push("cast", safe.cast(kTo[choose(std::size(kTo))]));
  }
  void movement(const Tensor& a) {
    if (!a.ndim()) return;
    int64_t axis = axisOf(a), size = a.intShape()[static_cast<size_t>(axis)];
    switch (choose(7)) {
    case 0: return push("flatten", a.flatten());
    case 1: return push("flip", a.flip({axis}));
    case 2: {
      Ints order;
      for (int64_t i = a.ndim(); i-- > 0;) order.push_back(i);
      return push("permute", a.permute(order));
    }
    case 3: {
      Bounds amounts;
      for (int64_t i = 0; i < a.ndim(); ++i) amounts.emplace_back(Sint(choose(3)), Sint(choose(3)));
      return push("pad", a.pad(amounts));
    }
    case 4: {
      if (size < 2) return;
      std::vector<std::optional<std::pair<Sint, Sint>>> bounds(static_cast<size_t>(a.ndim()));
      bounds[static_cast<size_t>(axis)] = {Sint(1), Sint(size)};
      return push("shrink", a.shrink(bounds));
    }
    case 5:
      return push("unsqueeze expand", a.unsqueeze(0).expand([&] {
        Shape s{Sint(3)};
        for (const Sint& d : a.shape()) s.push_back(d);
        return s;
      }()));
    default: {
      if (size < 3) return;
      std::vector<Index> index;
      for (int64_t i = 0; i < axis; ++i) index.push_back(Index::all());
      index.push_back(Index::slice({}, {}, choose(2) ? 2 : -2));
      return push("stride", a.get(index));
    }
    }
  }
  void reduce(const Tensor& a) {
    Axes axes;
    if (a.ndim() && choose(3)) axes = std::vector<int64_t>{axisOf(a)};
    bool keep = choose(2) != 0;
    switch (choose(4)) {
    case 0: return push("sum", a.sum(axes, keep));
    case 1: return a.intNumel() ? push("max", a.max(axes, keep)) : void();
    case 2: return push("prod of small", a.clamp(Operand(0), Operand(2)).prod(axes, keep));
    default: return push("mean", a.mean(axes, keep));
    }
  }
  void matmul(const Tensor& a) {
    if (a.ndim() != 2 || a.dtype().isBool()) return;
    push("matmul", a.matmul(a.transpose()));
  }
  void integer(const Tensor& a) {
    if (!a.dtype().isInt()) return;
    switch (choose(4)) {
    case 0: return push("idiv", a.idiv(like(a).cast(a.dtype()).bitOr(1)));
    case 1: return push("mod", a.mod(Operand(static_cast<int64_t>(1 + choose(9)))));
    case 2: return push("xor", a.bitXor(Operand(static_cast<int64_t>(choose(64)))));
    default:
      return a.dtype().isUnsigned() ? push("rshift", a.rshift(static_cast<int64_t>(choose(4)))) : void();
    }
  }

  std::mt19937_64 random_;
  std::string device_;
  std::vector<std::pair<std::string, Tensor>> values_;
};

/// Empty where the values agree; else the first difference.
std::string compare(const Tensor& cpu, const Tensor& reference) {
  std::vector<double> x = cpu.doubles(), y = reference.doubles();
  double tolerance = !cpu.isFloat() ? 0 : cpu.dtype() == dtypes::float16 ? 4e-3 : 2e-5;
  if (x.size() != y.size()) return fmt::format("{} values against {}", x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    if (x[i] == y[i] || std::abs(x[i] - y[i]) <= tolerance * std::max({1.0, std::abs(x[i]), std::abs(y[i])}))
      continue;
    return fmt::format("element {}: CPU {} and REF {}", i, x[i], y[i]);
  }
  return {};
}

} // namespace

TEST_CASE("random tensor programs give the same on CPU and REF") {
  int64_t count = envInt("UOPSCOPE_FUZZ", 400), only = envInt("UOPSCOPE_FUZZ_SEED", -1);
  int wrong = 0;
  for (int64_t i = 0; i < count && wrong < 5; ++i) {
    auto seed = static_cast<uint64_t>(only >= 0 ? only : i);
    Program cpu(seed, "CPU"), reference(seed, "REF");
    for (int s = 0; s < 8; ++s) {
      cpu.step();
      reference.step();
    }
    std::string failure;
    size_t last = cpu.values().size();
    try {
      // The last value first, as a whole; the steps before it only to find where it goes wrong.
      failure = compare(cpu.values().back().second, reference.values().back().second);
      if (!failure.empty())
        for (last = 1; last < cpu.values().size(); ++last)
          if (!compare(cpu.values()[last - 1].second, reference.values()[last - 1].second).empty()) break;
    } catch (const Error& e) {
      failure = e.what();
    }
    if (!failure.empty()) {
      ++wrong;
      std::string steps;
      for (size_t k = 0; k < last; ++k) steps += fmt::format("\n  {}: {}", k, cpu.values()[k].first);
      FAIL_CHECK(fmt::format("seed {}: {}{}", seed, failure, steps));
    }
    if (only >= 0) break;
  }
  CHECK(wrong == 0);
}
