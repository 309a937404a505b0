// Random kernels under random options: the program is valid and computes the values of the graph.
// UOPSCOPE_FUZZ=2000 build/engine_tests -tc='random kernels*' tries more of them.
#include "engine/base/context_var.h"
#include "engine/codegen/opt.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

class KernelMaker {
public:
  explicit KernelMaker(uint32_t seed) : random_(seed) {}

  UOp make() {
    int axes = pick(1, 3);
    UOp flat;
    int64_t size = 1;
    for (int a = 0; a < axes; ++a) {
      int64_t n = sizes_[static_cast<size_t>(pick(0, 7))];
      ranges_.push_back(UOp::range(n, nextId_++));
      flat = flat ? flat * n + ranges_.back() : ranges_.back();
      size *= n;
    }
    std::vector<UOp> effects;
    int outputs = pick(1, 2);
    for (int o = 0; o < outputs; ++o)
      effects.push_back(memory(o, size).indexed({flat}).store(value(3)).end(ranges_));
    return kernel(effects);
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  UOp value(int depth) {
    int choice = depth == 0 ? pick(0, 1) : pick(0, 8);
    switch (choice) {
    case 0:
    case 1: return load();
    case 2: return value(depth - 1) + value(depth - 1);
    case 3: return value(depth - 1) * UOp::constant(dtypes::float32, static_cast<double>(pick(-2, 3)));
    case 4: return value(depth - 1).maximum(value(depth - 1));
    case 5: return (index() < pick(0, 6)).where(value(depth - 1), value(depth - 1));
    case 6: return index().cast(dtypes::float32);
    default: return reduction(depth - 1);
    }
  }
  /// A sum of ranges in scope, each with a factor.
  UOp index() {
    UOp sum = UOp::index(pick(0, 3));
    for (UOp r : ranges_)
      if (pick(0, 2)) sum = sum + r * pick(1, 4);
    return sum;
  }
  UOp load() {
    UOp at = index();
    if (pick(0, 3) == 0) at = at / pick(2, 5);
    if (pick(0, 3) == 0) at = at % pick(2, 9);
    int64_t size = at.vmax() + 1;
    if (pick(0, 3) == 0) {
      UOp shifted = at - pick(1, 3);
      return read(memory(nextBuffer_++, size), shifted.validWhere(shifted >= 0));
    }
    return read(memory(nextBuffer_++, size), at);
  }
  UOp reduction(int depth) {
    UOp r = UOp::range(sizes_[static_cast<size_t>(pick(0, 7))], nextId_++, AxisType::Reduce);
    ranges_.push_back(r);
    UOp term = value(depth);
    ranges_.pop_back();
    return term.reduce(pick(0, 2) ? Op::ADD : Op::MAX, std::vector<UOp>{r});
  }

  std::mt19937 random_;
  std::vector<UOp> ranges_;
  int64_t nextId_ = 0, nextBuffer_ = 2;
  std::array<int64_t, 8> sizes_{1, 2, 3, 4, 5, 6, 8, 12};
};

/// A few random options that fit the kernel.
std::vector<Opt> randomOpts(UOp sink, const Target& target, uint32_t seed) {
  std::mt19937 random(seed);
  KernelOptimizer s(sink, target);
  for (int tries = 0; tries < 5; ++tries) {
    constexpr OptOp kOps[] = {OptOp::UPCAST, OptOp::UNROLL, OptOp::PADTO, OptOp::SWAP, OptOp::THREAD};
    Opt opt{kOps[random() % 5], static_cast<int>(random() % 4), {static_cast<int64_t>(random() % 5)}};
    try {
      s.apply(opt);
    } catch (const Error&) {
      continue; // it does not fit this kernel
    }
    if (s.expandedSize() > 64) break;
  }
  return s.applied();
}

} // namespace

TEST_CASE("random kernels under random options") {
  const char* more = std::getenv("UOPSCOPE_FUZZ");
  uint32_t count = more ? static_cast<uint32_t>(std::atoi(more)) : 150;
  for (uint32_t seed = 0; seed < count; ++seed) {
    Pool pool;
    PoolScope scope(pool);
    CAPTURE(seed);
    UOp sink = KernelMaker(seed).make();
    Target target = plainTarget(seed % 2 ? 4 : 1);
    target.hasThreads = true;
    target.globalMax = {4, 1, 1};
    ContextScope settings({{"SPEC", 1}, {"NOOPT", seed % 3 == 0}});
    checkKernel(sink, target, seed, {}, 1e-6);
    KernelInfo info;
    info.hasOptsToApply = true;
    info.optsToApply = randomOpts(sink, target, seed);
    std::string text;
    for (const Opt& o : info.optsToApply) text += toString(o) + " ";
    CAPTURE(text);
    try {
      checkKernel(sink.withArg(Arg::of(info)), target, seed, {}, 1e-6);
    } catch (const Error& e) {
      // The options were tried on the kernel as made; the passes before them may have removed their axis.
      if (std::string(e.what()).find("does not fit kernel") == std::string::npos) throw;
    }
  }
}
