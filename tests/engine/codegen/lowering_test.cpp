// Kernels lowered in many ways compute the values of their graphs.
#include "engine/base/context_var.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// Checks a kernel for scalar and wide arithmetic, plain and optimised, and verifies each graph after each
/// pass.
void checkEverywhere(UOp sink, const std::map<std::string, int64_t>& vars = {}, double tolerance = 0) {
  for (int noopt : {1, 0})
    for (int lanes : {1, 4, 16}) {
      ContextScope settings({{"NOOPT", noopt}, {"SPEC", 1}});
      CAPTURE(noopt);
      CAPTURE(lanes);
      checkKernel(sink, plainTarget(lanes), 3, vars, tolerance);
    }
}

} // namespace

TEST_CASE("elementwise kernels of any length") {
  Pool pool;
  PoolScope scope(pool);
  for (int64_t n : {1, 2, 3, 5, 7, 12, 13, 16, 31, 48, 64, 100}) {
    CAPTURE(n);
    checkEverywhere(elementwise(n, [](UOp v) { return v * 3 + 1; }));
    checkEverywhere(elementwise(n, [](UOp v) { return (v < 0).where(-v, v); }, dtypes::int32));
  }
}

TEST_CASE("lanes that count are one number in every lane plus constants, also behind a start and converted") {
  Pool pool;
  PoolScope scope(pool);
  const UOp i = UOp::range(64, 0);
  Target target = plainTarget(16);
  target.maxVectorLanes = 16;
  for (const DType d : {dtypes::int32, dtypes::uint32, dtypes::float32})
    for (const int64_t first : {0, 1, 7}) {
      CAPTURE(d.name());
      CAPTURE(first);
      // A product, so that the numbers are no mere index.
      const UOp number = (i + first).cast(d),
                sink = kernel({memory(0, 64, d).indexed({i}).store(number * number).end({i})});
      checkEverywhere(sink);
      const LoweredKernel k = lowerKernel(sink, target);
      CHECK(std::ranges::none_of(k.uops, [](UOp u) {
        const auto isOther = [&](UOp s) { return s != u.src(0) && !s.isConst(); };
        return u.is(Op::VECTORIZE) && std::ranges::any_of(u.src(), isOther);
      }));
    }
}

TEST_CASE("an axis of every length expanded whole") {
  Pool pool;
  PoolScope scope(pool);
  for (int64_t n = 2; n <= 64; ++n) {
    CAPTURE(n);
    UOp i = UOp::range(3, 0), j = UOp::range(n, 1);
    UOp value = read(memory(1, 3 * n), i * n + j) + read(memory(2, n), j);
    UOp sink = kernel({memory(0, 3 * n).indexed({i * n + j}).store(value).end({i, j})});
    for (int lanes : {1, 16}) {
      ContextScope settings({{"SPEC", 1}});
      // Loops over i and j do not merge, since one read depends only on j.
      checkKernel(withOpts(sink, {{OptOp::UPCAST, 1, {0}}}), plainTarget(lanes));
    }
  }
}

TEST_CASE("reductions") {
  Pool pool;
  PoolScope scope(pool);
  for (Op op : {Op::ADD, Op::MAX})
    for (int64_t cols : {1, 3, 8, 36, 64, 100}) {
      CAPTURE(cols);
      checkEverywhere(rowSums(4, cols, op));
      checkEverywhere(rowSums(4, cols, op, dtypes::int32));
    }
  checkEverywhere(rowSums(3, 5, Op::MUL, dtypes::int64));
}

TEST_CASE("matrix products of friendly and odd sizes") {
  Pool pool;
  PoolScope scope(pool);
  checkEverywhere(matmul(16, 16, 16));
  checkEverywhere(matmul(5, 7, 3));
  checkEverywhere(matmul(12, 20, 9));
  checkEverywhere(matmul(1, 64, 33));
  checkEverywhere(matmul(64, 1, 33));
}

TEST_CASE("options given by hand") {
  Pool pool;
  PoolScope scope(pool);
  UOp sink = matmul(16, 16, 16);
  std::vector<std::vector<Opt>> choices{
      {{OptOp::UPCAST, 0, {4}}},
      {{OptOp::UPCAST, 0, {4}}, {OptOp::UPCAST, 1, {4}}, {OptOp::UNROLL, 0, {4}}},
      {{OptOp::UNROLL, 0, {0}}},
      {{OptOp::UPCAST, 1, {8}}, {OptOp::UPCAST, 0, {0}}},
      {{OptOp::SWAP, 0, {1}}, {OptOp::UPCAST, 0, {2}}},
      {{OptOp::PADTO, 0, {32}}},
      {{OptOp::PADTO, 2, {32}}},
      {{OptOp::PADTO, 1, {24}}, {OptOp::UPCAST, 1, {8}}},
  };
  for (const auto& opts : choices)
    for (int lanes : {1, 8}) {
      ContextScope settings({{"SPEC", 1}});
      LoweredKernel k = checkKernel(withOpts(sink, opts), plainTarget(lanes));
      CHECK(k.appliedOpts == opts);
    }
}

TEST_CASE("threads run parts of the outermost loop") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget();
  target.hasThreads = true;
  target.globalMax = {8, 1, 1};
  ContextScope settings({{"SPEC", 1}});
  LoweredKernel k = checkKernel(withOpts(matmul(16, 16, 16), {{OptOp::THREAD, 0, {4}}}), target);
  CHECK(k.globalSize[0] == Sint(4));
  CHECK(k.vars.size() == 1);
}

TEST_CASE("threads share rows, and not the parts of each row, whose results would lie in one line") {
  Pool pool;
  PoolScope scope(pool);
  Target target = vectorTarget(16);
  target.hasThreads = true;
  target.globalMax = {2, 1, 1};
  ContextScope settings({{"SPEC", 1}, {"CPU_COUNT", 2}});
  constexpr int64_t kRows = 320;
  for (const int64_t columns : {49, 100}) { // two overlapping tiles: the loop over them is outside
    CAPTURE(columns);
    LoweredKernel k = checkKernel(matmul(kRows, columns, 64), target, 3, {}, 1e-4);
    REQUIRE(k.globalSize[0] == Sint(2));
    const auto thread = std::ranges::find(k.appliedOpts, OptOp::THREAD, &Opt::op);
    REQUIRE(thread != k.appliedOpts.end());
    REQUIRE(std::ranges::count(k.appliedOpts, OptOp::SWAP, &Opt::op) == 1);
    CHECK(thread->axis == 1);
  }
}

TEST_CASE("columns that a few registers hold are one tile, padded where the target has masks") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  for (const int masks : {0, 1})
    for (const int64_t columns : {49, 40, 63}) {
      CAPTURE(masks);
      CAPTURE(columns);
      const LoweredKernel k = checkKernel(matmul(24, columns, 40), vectorTarget(16, masks), 3, {}, 1e-4);
      const auto padded = std::ranges::find(k.appliedOpts, OptOp::PADTO, &Opt::op);
      REQUIRE((padded != k.appliedOpts.end()) == (masks == 1));
      if (masks) CHECK(padded->arg.at(0) == (columns + 15) / 16 * 16);
    }
}

TEST_CASE("threads share a loop that they do not divide: the last one repeats steps") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget(4);
  target.hasThreads = true;
  target.globalMax = {8, 1, 1};
  ContextScope settings({{"SPEC", 1}});
  for (auto [rows, threads] : {std::array<int64_t, 2>{17, 2}, {13, 4}, {5, 4}, {7, 3}, {100, 7}}) {
    CAPTURE(rows);
    LoweredKernel k =
        checkKernel(withOpts(matmul(rows, 8, 8), {{OptOp::THREAD, 0, {threads, 1}}}), target, 3);
    CHECK(k.globalSize[0] == Sint(threads));
  }
  // A kernel that reads what it writes may do so once only.
  UOp i = UOp::range(17, 0), buffer = memory(0, 17);
  UOp inPlace = kernel({buffer.indexed({i}).store(read(buffer, i) + 1.0).end({i})});
  CHECK_THROWS_AS(lowerKernel(withOpts(inPlace, {{OptOp::THREAD, 0, {2, 1}}}), target), Error);
}

TEST_CASE("terms that fill no step of lanes are peeled off") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (Op op : {Op::ADD, Op::MAX, Op::MUL})
    for (int64_t terms : {17, 23, 64, 97, 100})
      for (int64_t lanes : {2, 5, 16}) {
        CAPTURE(terms);
        CAPTURE(lanes);
        const Opt unroll{OptOp::UNROLL, 0, {lanes, 1}};
        LoweredKernel k = checkKernel(withOpts(rowSums(3, terms, op), {unroll}), plainTarget(4), 3, {}, 1e-4);
        int64_t loops = 0;
        for (UOp u : k.uops) loops += u.is(Op::RANGE);
        CHECK(loops == (terms / lanes > 1 ? 2 : 1)); // rows, and whole steps
      }
  checkKernel(withOpts(matmul(5, 7, 13), {{OptOp::UPCAST, 0, {5}}, {OptOp::UNROLL, 0, {4, 1}}}),
              plainTarget(4), 3, {}, 1e-5);
  checkKernel(withOpts(rowSums(3, 21, Op::ADD, dtypes::int32), {{OptOp::UNROLL, 0, {8, 1}}}), plainTarget(8));
  CHECK_THROWS_AS(lowerKernel(withOpts(rowSums(3, 5), {{OptOp::UNROLL, 0, {8, 1}}}), plainTarget(4)), Error);
  CHECK_THROWS_AS(lowerKernel(withOpts(rowSums(3, 5), {{OptOp::UNROLL, 0, {2}}}), plainTarget(4)), Error);
}

TEST_CASE("work groups: locals, and reductions shared by a group") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget();
  target.device = "GPU";
  target.hasLocal = target.hasShared = true;
  for (const std::vector<Opt>& opts : std::vector<std::vector<Opt>>{
           {{OptOp::LOCAL, 0, {4}}},
           {{OptOp::GROUP, 0, {4}}},
           {{OptOp::GROUPTOP, 0, {8}}},
           {{OptOp::GROUPTOP, 0, {8}}, {OptOp::UPCAST, 0, {4}}},
           {{OptOp::LOCAL, 0, {2}}, {OptOp::GROUP, 0, {4}}, {OptOp::UPCAST, 0, {2}}},
       }) {
    ContextScope settings({{"SPEC", 1}});
    checkKernel(withOpts(matmul(16, 8, 32), opts), target);
  }
  ContextScope settings({{"SPEC", 1}});
  checkKernel(matmul(64, 64, 8), target);
  checkKernel(elementwise(1024, [](UOp v) { return v + v; }), target);
}

TEST_CASE("gated reads: padding and windows") {
  Pool pool;
  PoolScope scope(pool);
  // out[i] = in[i-1] where it exists, else 0; plus a window sum over it.
  int64_t n = 20;
  UOp i = UOp::range(n, 0), k = UOp::range(3, 1, AxisType::Reduce);
  UOp at = i + k - 1;
  UOp valid = (at >= 0) & (at < n);
  UOp sum = read(memory(1, n), at.validWhere(valid)).reduce(Op::ADD, std::vector<UOp>{k});
  checkEverywhere(kernel({memory(0, n).indexed({i}).store(sum).end({i})}));
  UOp j = UOp::range(n, 2);
  UOp shifted =
      (j < 4).where(read(memory(1, n), j.validWhere(j < 4)), read(memory(2, n), (j - 4).validWhere(j >= 4)));
  checkEverywhere(kernel({memory(0, n).indexed({j}).store(shifted).end({j})}));
}

TEST_CASE("a loop that asks which part it is in becomes one for each part, also inside others") {
  Pool pool;
  PoolScope scope(pool);
  auto work = [](UOp v, double by) { // enough work for a loop
    UOp c = v.constLike(by);
    return (v * c + c) * (v + c) * c + c;
  };
  for (auto [rows, columns, first, second] :
       {std::array<int64_t, 4>{5, 16, 8, 0}, {4, 33, 1, 32}, {3, 7, 6, 3}, {1, 24, 23, 5}, {16, 2, 1, 9}}) {
    UOp i = UOp::range(rows, 0), j = UOp::range(columns, 1);
    UOp v = read(memory(1, rows * columns), i * columns + j);
    UOp value = (j < first).where(work(v, 2), work(v, 3));
    if (second) value = (i * columns + j < second * columns).where(value, work(v, 5));
    UOp sink = kernel({memory(0, rows * columns).indexed({i * columns + j}).store(value).end({i, j})});
    for (int lanes : {1, 4, 8}) {
      LoweredKernel k = checkKernel(sink, plainTarget(lanes), 3, {}, 1e-6);
      int choices = 0; // between values; the first place of a tile that overlaps is one of addresses
      for (UOp u : k.uops) choices += u.is(Op::WHERE) && u.dtype().isFloat();
      CAPTURE(k.name);
      CHECK(choices == 0);
    }
  }
}

TEST_CASE("a loop inside another is cut to leave out a read where a row of results is long") {
  Pool pool;
  PoolScope scope(pool);
  auto padded = [](int64_t columns, DType type, int lanes) {
    const int64_t row = columns + 3;
    UOp i = UOp::range(8, 0), j = UOp::range(row, 1);
    UOp value =
        read(memory(1, 8 * columns, type), (i * columns + j - 1).validWhere((j >= 1) & (j < columns + 1)));
    return checkKernel(kernel({memory(0, 8 * row, type).indexed({i * row + j}).store(value).end({i, j})}),
                       plainTarget(lanes));
  };
  auto loopsOf = [](const LoweredKernel& k) {
    return std::ranges::count_if(k.uops, [](UOp u) { return u.is(Op::RANGE); });
  };
  CHECK(loopsOf(padded(8, dtypes::float32, 1)) == 2);
  for (int64_t columns : {14, 16, 33, 56})
    for (int lanes : {1, 4, 8, 16})
      for (DType type : {dtypes::float32, dtypes::float64, dtypes::int8}) {
        LoweredKernel k = padded(columns, type, lanes);
        CAPTURE(k.name);
        // No read asks whether it is inside of its row.
        for (UOp u : k.uops)
          if (u.is(Op::LOAD)) CHECK(u.srcCount() == 1);
      }
}

TEST_CASE("a loop whose index wraps around is cut there") {
  Pool pool;
  PoolScope scope(pool);
  for (auto [rows, columns, by] : {std::array<int64_t, 3>{5, 40, 7}, {3, 17, 16}, {1, 9, 1}, {4, 64, 32}}) {
    UOp i = UOp::range(rows, 0), j = UOp::range(columns, 1);
    UOp rolled = read(memory(1, rows * columns), i * columns + (j + (columns - by)) % columns);
    UOp value = rolled + read(memory(2, rows * columns), i * columns + j);
    UOp sink = kernel({memory(0, rows * columns).indexed({i * columns + j}).store(value).end({i, j})});
    for (int lanes : {1, 4, 16}) {
      LoweredKernel k = checkKernel(sink, plainTarget(lanes), 3);
      CAPTURE(k.name);
      for (UOp u : k.uops) CHECK(!u.in({Op::MOD, Op::IDIV, Op::SHR}));
    }
  }
  // Rows that wrap around are found once for each row: their loop stays whole.
  UOp i = UOp::range(8, 0), j = UOp::range(20, 1);
  UOp value = read(memory(1, 160), (i + 3) % 8 * 20 + j) + 1.0;
  LoweredKernel k =
      checkKernel(kernel({memory(0, 160).indexed({i * 20 + j}).store(value).end({i, j})}), plainTarget(4));
  CHECK(std::ranges::count_if(k.uops, [](UOp u) { return u.is(Op::STORE); }) == 1);
}

TEST_CASE("lanes whose gates differ are read as a vector where every place is inside of the buffer") {
  Pool pool;
  PoolScope scope(pool);
  auto loadsOf = [](const LoweredKernel& k) {
    return std::ranges::count_if(
        k.uops, [](UOp u) { return u.is(Op::LOAD) && u.src(0).bufferOf().is(Op::DEFINE_GLOBAL); });
  };
  // The lower triangle, row by row: sums, and the matrix itself.
  const int64_t n = 32;
  UOp i = UOp::range(n, 0), k = UOp::range(n, 1, AxisType::Reduce), j = UOp::range(n, 1);
  UOp whole = read(memory(1, n * n), i * n + k), zero = whole.constLike(0.0);
  UOp sums = kernel({memory(0, n)
                         .indexed({i})
                         .store((k < i + 1).where(whole, zero).reduce(Op::ADD, std::vector<UOp>{k}))
                         .end({i})});
  UOp element = read(memory(1, n * n), (i * n + j).validWhere(j < i + 1));
  UOp lower = kernel({memory(0, n * n).indexed({i * n + j}).store(element).end({i, j})});
  // The row before: the first one lies outside, so its lanes are asked one by one.
  UOp before = read(memory(1, n * n), (i * n + j - n).validWhere((i >= 1) & (j < i + 1)));
  UOp outside = kernel({memory(0, n * n).indexed({i * n + j}).store(before).end({i, j})});
  checkEverywhere(sums, {}, 1e-5);
  checkEverywhere(lower);
  checkEverywhere(outside);
  auto lanes = [&](UOp sink) {
    return loadsOf(checkKernel(withOpts(sink, {{OptOp::UPCAST, 1, {16}}}), plainTarget(16), 3));
  };
  CHECK(lanes(lower) == 4); // vectors of four, the widest that this target loads
  CHECK(lanes(outside) == 16);
}

TEST_CASE("a sum over an index that is loaded needs no loop") {
  Pool pool;
  PoolScope scope(pool);
  int64_t n = 10;
  UOp i = UOp::range(6, 0), r = UOp::range(n, 1, AxisType::Reduce);
  UOp idx = read(memory(2, 6, dtypes::int32), i);
  UOp picked =
      ne(idx, r.cast(dtypes::int32)).where(UOp::constant(dtypes::float32, 0.0), read(memory(1, n), r));
  UOp sink = kernel({memory(0, 6).indexed({i}).store(picked.reduce(Op::ADD, std::vector<UOp>{r})).end({i})});
  checkEverywhere(sink);
  LoweredKernel k = lowerKernel(sink, plainTarget());
  for (UOp u : k.uops) CHECK_FALSE(u.is(Op::DEFINE_REG));
}

TEST_CASE("several outputs share loops, or get their own") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(16, 0);
  UOp common = read(memory(2, 16), i) + read(memory(3, 16), i);
  UOp sink = kernel({memory(0, 16).indexed({i}).store(common * 2).end({i}),
                     memory(1, 16).indexed({i}).store(common + 1).end({i})});
  checkEverywhere(sink);
  ContextScope plain({{"NOOPT", 1}});
  LoweredKernel k = lowerKernel(sink, plainTarget());
  int loops = 0, loads = 0;
  for (UOp u : k.uops) {
    loops += u.is(Op::RANGE);
    loads += u.is(Op::LOAD);
  }
  CHECK(loops == 1);
  CHECK(loads == 2);
  // Two stores close one range with different loops: the second store gets a range of its own.
  UOp j = UOp::range(16, 1);
  checkEverywhere(
      kernel({memory(0, 256).indexed({i * 16 + j}).store(read(memory(2, 256), i * 16 + j) * 2).end({i, j}),
              memory(1, 16).indexed({i}).store(read(memory(3, 16), i) + 1).end({i})}));
}

TEST_CASE("a loop that comes again keeps the loops inside of it inside") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"NOOPT", 1}, {"SPEC", 1}});
  // out = in, then out += out: the rows of both are one range, which two loops close, one after the other.
  constexpr int64_t kRows = 6, kColumns = 10,
                    kApart = 16; // rows that lie apart are not one with their columns
  UOp r = UOp::range(kRows, 0), c = UOp::range(kColumns, 1), d = UOp::range(kColumns, 2);
  UOp out = memory(0, kRows * kApart), in = memory(1, kRows * kApart);
  UOp first = out.indexed({r * kApart + c}).store(read(in, r * kApart + c)).end({r, c});
  UOp copied = out.after(std::vector<UOp>{first}).indexed({r * kApart + d}, dtypes::float32);
  UOp ast = kernel({out.indexed({r * kApart + d}).store(copied + copied).end({r, d})});
  std::string loops;
  for (UOp u : lowerKernel(ast, plainTarget()).uops)
    if (u.is(Op::RANGE)) loops += fmt::format("{} ", u.vmax() + 1);
  CHECK(loops == fmt::format("{0} {1} {0} {1} ", kRows, kColumns));
}

TEST_CASE("two reductions, one over the result of the other") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(8, 0), k = UOp::range(12, 1, AxisType::Reduce), l = UOp::range(12, 2, AxisType::Reduce);
  UOp in = memory(1, 96);
  UOp top = read(in, i * 12 + k).reduce(Op::MAX, std::vector<UOp>{k});
  UOp sum = (read(in, i * 12 + l) - top).reduce(Op::ADD, std::vector<UOp>{l});
  checkEverywhere(kernel({memory(0, 8).indexed({i}).store(sum * top).end({i})}));
  // Both reductions use the same range.
  UOp both = read(in, i * 12 + k).reduce(Op::ADD, std::vector<UOp>{k}) * top;
  checkEverywhere(kernel({memory(0, 8).indexed({i}).store(both).end({i})}));
}

TEST_CASE("extents known only when the kernel runs") {
  Pool pool;
  PoolScope scope(pool);
  UOp n = UOp::variable("n", 1, 32);
  UOp i = UOp::range(n, {0});
  UOp sink = kernel({memory(0, 32).indexed({i}).store(read(memory(1, 32), i) * 2).end({i})});
  for (int64_t v : {1, 5, 32}) checkEverywhere(sink, {{"n", v}});
  UOp k = UOp::range(n, {1}, AxisType::Reduce), j = UOp::range(4, 2);
  UOp sum = read(memory(1, 128), j * 32 + k).reduce(Op::ADD, std::vector<UOp>{k});
  UOp reduced = kernel({memory(0, 4).indexed({j}).store(sum).end({j})});
  for (int64_t v : {1, 5, 32}) checkEverywhere(reduced, {{"n", v}});
}

TEST_CASE("a triangular loop: the extent of one range is another") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(8, 0), k = UOp::range(i + 1, {1}, AxisType::Reduce);
  UOp sum = read(memory(1, 8), k).reduce(Op::ADD, std::vector<UOp>{k});
  UOp sink = kernel({memory(0, 8).indexed({i}).store(sum).end({i})});
  ContextScope plain({{"NOOPT", 1}, {"SPEC", 1}});
  checkKernel(sink, plainTarget());
}

TEST_CASE("reads come before the store that changes what they read") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(16, 0);
  UOp a = memory(0, 16), b = memory(1, 16);
  UOp fromA = read(a, i), fromB = read(b, i);
  // A swap: both reads come first.
  UOp sink = kernel({a.indexed({i}).store(fromB).end({i}), b.indexed({i}).store(fromA).end({i})});
  for (int noopt : {0, 1}) {
    ContextScope settings({{"NOOPT", noopt}, {"SPEC", 1}});
    Values before = randomBuffers(sink, 5), after = runLowered(lowerKernel(sink, plainTarget(4)), before, {});
    CHECK(after[0] == before[1]);
    CHECK(after[1] == before[0]);
  }
}

TEST_CASE("a processor loads and stores bools as vectors, a GPU one by one") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  auto accesses = [](const Target& target) {
    UOp i = UOp::range(64, 0);
    UOp both = read(memory(1, 64, dtypes::bool_), i) & read(memory(2, 64, dtypes::bool_), i);
    UOp sink = kernel({memory(0, 64, dtypes::bool_).indexed({i}).store(both).end({i})});
    LoweredKernel k = checkKernel(withOpts(sink, {{OptOp::UPCAST, 0, {8}}}), target);
    return std::ranges::count_if(k.uops, [](UOp u) { return u.in({Op::LOAD, Op::STORE}); });
  };
  CHECK(accesses(plainTarget(8)) == 3);
  CHECK(accesses(plainTarget()) == 24);
}
