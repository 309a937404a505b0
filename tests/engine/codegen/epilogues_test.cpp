// A long epilogue stands once, in a loop over the rows of the tile; values are those of the graph as written.
#include "engine/base/context_var.h"
#include "engine/codegen/epilogues.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

using Epilogue = std::function<UOp(UOp sum, UOp i, UOp j)>;

/// out[i,j] = epilogue(sum over k of a[i,k] * b[k,j])
LoweredKernel lowered(int64_t rows, int64_t columns, const Epilogue& epilogue, std::vector<Opt> opts = {}) {
  UOp i = UOp::range(rows, 0), j = UOp::range(columns, 1), k = UOp::range(24, 2, AxisType::Reduce);
  UOp product =
      read(memory(1, rows * 24), i * int64_t{24} + k) * read(memory(2, 24 * columns), k * columns + j);
  KernelInfo info;
  info.hasOptsToApply = !opts.empty();
  info.optsToApply = std::move(opts);
  UOp value = epilogue(product.reduce(Op::ADD, std::vector<UOp>{k}), i, j);
  return checkKernel(
      kernel({memory(0, rows * columns).indexed({i * columns + j}).store(value).end({i, j})}, info),
      plainTarget(8), 5, {}, 1e-4);
}

UOp bounded(UOp x) { // so that powers of two stay finite
  return x.alu(Op::MAX, {x.constLike(-2.0)}).alu(Op::NEG).alu(Op::MAX, {x.constLike(-2.0)});
}
UOp shortEpilogue(UOp sum, UOp, UOp) {
  return sum.alu(Op::MAX, {sum.constLike(0.0)});
}
UOp longEpilogue(UOp sum, UOp i, UOp j) {
  UOp bias = read(memory(3, 64), j % int64_t{64}), scale = read(memory(4, 64), i % int64_t{64});
  return bounded(sum + bias).alu(Op::EXP2) * scale;
}

const std::vector<Opt> kEpilogueTile{{OptOp::UPCAST, 1, {16}}, {OptOp::UPCAST, 0, {8}}};

} // namespace

TEST_CASE("a long epilogue is computed in a loop over the rows of a tile") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  const int rows = 8, registers = 16 / 4; // of a row, for vectors of four lanes
  LoweredKernel brief = lowered(64, 64, shortEpilogue, kEpilogueTile),
                whole = lowered(64, 64, longEpilogue, kEpilogueTile);
  CHECK(count(brief, Op::STORE) > rows * registers); // results, and accumulators
  const auto results = std::ranges::count_if(
      whole.uops, [](UOp u) { return u.is(Op::STORE) && u.src(0).bufferOf().is(Op::DEFINE_GLOBAL); });
  CHECK(results == registers);
  CHECK(count(whole, Op::DEFINE_REG) == count(brief, Op::DEFINE_REG) + 1); // the rows that the loop reads
  CHECK(count(whole, Op::RANGE) == count(brief, Op::RANGE) + 1);
}

TEST_CASE("tiles that overlap, several sums and sums of no row keep their values") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  lowered(61, 67, longEpilogue, {{OptOp::UPCAST, 1, {16, 1}}, {OptOp::UPCAST, 0, {8, 1}}});
  lowered(64, 64, longEpilogue);
  lowered(3, 5, longEpilogue);
  lowered(
      64, 64,
      [](UOp sum, UOp i, UOp j) {
        UOp k = UOp::range(int64_t{9}, 3, AxisType::Reduce), l = UOp::range(int64_t{7}, 4, AxisType::Reduce);
        UOp ofRow = read(memory(3, 64 * 9), i * int64_t{9} + k).reduce(Op::ADD, std::vector<UOp>{k});
        UOp ofColumn = read(memory(4, 64 * 7), j * int64_t{7} + l).reduce(Op::MAX, std::vector<UOp>{l});
        return bounded(sum + ofRow).alu(Op::EXP2) * bounded(ofColumn).alu(Op::EXP2);
      },
      kEpilogueTile);
}

TEST_CASE("the trace says why an epilogue has a loop") {
  struct Reasons : Observer {
    bool wantsRewrites() const override { return true; }
    void onDecision(const Decision& d) override { all += d.reason + "\n"; }
    std::string all;
  } reasons;
  Pool pool;
  PoolScope scope(pool);
  ObserverScope watch(&reasons);
  lowered(64, 64, longEpilogue, kEpilogueTile);
  CHECK(reasons.all.find("each of 8 rows would get the 25 instructions of what follows its sum") !=
        std::string::npos);
}
