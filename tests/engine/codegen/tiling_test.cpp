// The tiles that the cost model picks for reductions with a known best tile. The fuzz tests check that such
// kernels compute the same values as without optimisations.
#include "engine/codegen/tiling.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {

TileAxis output(int64_t id, int64_t extent, std::vector<int64_t> strides, bool inOrder) {
  TileAxis a{UOp::range(extent, id), extent, false, inOrder, std::move(strides), {}};
  a.gates.resize(a.strides.size());
  return a;
}
TileAxis term(int64_t id, int64_t extent, std::vector<int64_t> strides) {
  TileAxis a{UOp::range(extent, id, AxisType::Reduce), extent, true, false, std::move(strides), {}};
  a.gates.resize(a.strides.size());
  return a;
}

} // namespace

TEST_CASE("a product of matrices is computed in rows of two vectors") {
  Pool pool;
  PoolScope nodes(pool);
  std::vector<TileAxis> axes{output(0, 512, {512, 0}, false), output(1, 512, {0, 1}, true),
                             term(2, 512, {1, 512})};
  Tile t = chooseTile(axes, {2, 8});
  REQUIRE(t.parts.size() == 2);
  CHECK(t.vectors);
  CHECK(t.parts[0].range == axes[0].range);
  CHECK(t.parts[1].range == axes[1].range);
  CHECK(t.parts[1].amount % 8 == 0);
  CHECK(t.lanes >= 32);
  CHECK(t.lanes <= 96);
}

TEST_CASE("a product fills three quarters of 32 registers, with rows that divide nothing where they gain") {
  Pool pool;
  PoolScope nodes(pool);
  auto tileOf = [](int64_t rows, int64_t columns, int64_t extraReads, bool gated) {
    std::vector<TileAxis> axes{output(0, rows, {512, 0}, false), output(1, columns, {0, 1}, true),
                               term(2, 512, {1, columns})};
    for (TileAxis& a : axes) {
      a.mayOverlap = !a.isTerm;
      a.wholeRows = 2;
      for (int64_t i = 0; i < extraReads; ++i) { // of what no term changes, such as x[i, j] * (a @ b)
        a.strides.push_back(a.isTerm ? 0 : a.writtenInOrder ? 1 : columns);
        a.gates.push_back(false);
      }
    }
    if (gated) axes[0].gates[0] = true;
    TileMachine machine{axes[0].strides.size(), 16};
    machine.registers = 32;
    return chooseTile(axes, machine);
  };
  const Tile product = tileOf(1024, 1024, 0, false);
  CHECK(product.lanes == 24 * 16);
  CHECK(1024 % product.parts[0].amount != 0);
  CHECK(tileOf(1020, 1024, 0, false).lanes == 20 * 16); // five rows divide 1,020
  // Where they cost the same by the model, too: filters by windows of one dimension.
  std::vector<TileAxis> windows{output(0, 128, {384, 0}, false), output(1, 1024, {0, 1}, true),
                                term(2, 128, {3, 1026}), term(3, 3, {1, 1})};
  for (TileAxis& a : windows) a.mayOverlap = !a.isTerm, a.wholeRows = 2;
  TileMachine wide{2, 16};
  wide.registers = 32;
  CHECK(chooseTile(windows, wide).lanes == 24 * 16);
  // A gate takes registers, and so do 24 vectors that wait for the end of the loop.
  CHECK(tileOf(1024, 1024, 0, true).lanes <= 16 * 16);
  CHECK(tileOf(1024, 1024, 1, false).lanes <= 16 * 16);
}

TEST_CASE("a row that ends in half a register is taken whole where its gates are known then") {
  Pool pool;
  PoolScope nodes(pool);
  // The gradient of a pooling of 3x3 with a stride of 2: both reads of windows have gates along rows of 56 or 52.
  auto lanesOf = [](int64_t row) {
    TileAxis pictures = output(0, 8, {row * row, row * row}, false), along = output(1, row, {1, 1}, true),
             up = term(2, 4, {row, row}), across = term(3, 4, {TileAxis::kNotLinear, TileAxis::kNotLinear});
    along.gates = {true, true}, along.mayOverlap = true;
    across.gates = {true, true};
    TileMachine machine{2, 16, true};
    machine.registers = 32;
    const Tile t = chooseTile({pictures, along, up, across}, machine, {2, 4});
    return t.parts.back().amount;
  };
  CHECK(lanesOf(56) == 56);
  CHECK(lanesOf(52) != 52);
}

TEST_CASE("few columns: lanes of terms from a panel, or half a register of columns") {
  Pool pool;
  PoolScope nodes(pool);
  auto tileOf = [](int64_t rows, int64_t columns, int64_t terms, bool turnsTerms) {
    std::vector<TileAxis> axes{output(0, rows, {terms, 0}, false), output(1, columns, {0, 1}, true),
                               term(2, terms, {1, columns})};
    TileMachine machine{2, 16};
    machine.registers = 32;
    machine.turnsTerms = turnsTerms;
    return chooseTile(axes, machine);
  };
  for (int64_t columns : {2, 5, 8, 10, 12, 20, 24}) {
    CAPTURE(columns);
    const Tile t = tileOf(1024, columns, 512, true);
    CHECK(t.parts.back().isTerm);
    CHECK(t.vectors);
    CHECK(t.parts.size() == 3);
  }
  // No vectors of terms, a panel that is read too seldom, numbers that no panel turns: eight columns are the lanes.
  for (const Tile& t : {tileOf(1024, 8, 100, true), tileOf(4, 8, 512, true), tileOf(1024, 8, 512, false)}) {
    CHECK(!t.parts.back().isTerm);
    CHECK(t.parts.back().amount == 8);
    CHECK(t.lanes > 8);
  }
}

TEST_CASE(
    "a product with a transposed matrix takes its columns as lanes, where a panel of them is read often") {
  Pool pool;
  PoolScope nodes(pool);
  for (int64_t rows : {512, 8}) {
    std::vector<TileAxis> axes{output(0, rows, {512, 0}, false), output(1, 512, {0, 512}, true),
                               term(2, 512, {1, 1})};
    Tile t = chooseTile(axes, {2, 8});
    REQUIRE(!t.parts.empty());
    CAPTURE(rows);
    CHECK(t.parts.back().isTerm == (rows == 8));
    CHECK(t.vectors);
  }
}

TEST_CASE("the lanes' loop is outside, but not where rows of many filters would come from memory for each of "
          "its steps") {
  Pool pool;
  PoolScope nodes(pool);
  auto product = [](int64_t rows, int64_t terms, int64_t columns) {
    std::vector<TileAxis> axes{output(0, rows, {terms, 0}, false), output(1, columns, {0, 1}, true),
                               term(2, terms, {1, columns})};
    return chooseTile(axes, {2, 8}).lanesOutside;
  };
  CHECK(product(512, 512, 512));
  CHECK(product(2048, 2048, 2048));     // the second matrix fills no second cache
  CHECK(product(256, 1024, 196));       // the filters stay in the shared cache
  CHECK_FALSE(product(2048, 1024, 56)); // 8 MB of filters, 200 kB of a picture
}

TEST_CASE("where results lie apart the terms become lanes") {
  Pool pool;
  PoolScope nodes(pool);
  std::vector<TileAxis> axes{output(0, 100, {512}, true), term(1, 512, {1})};
  Tile t = chooseTile(axes, {1, 8});
  REQUIRE(!t.parts.empty());
  CHECK(t.parts.back().isTerm);
  CHECK(t.parts.back().amount % 8 == 0);
}

TEST_CASE("lanes are found along an axis of odd length") {
  Pool pool;
  PoolScope nodes(pool);
  // A convolution of 11 by 11 points: pictures, filters, row, column; channels and a window of 3 by 3.
  std::vector<TileAxis> axes{output(0, 128, {2704, 0}, false),
                             output(1, 32, {0, 144}, false),
                             output(2, 11, {13, 0}, false),
                             output(3, 11, {1, 0}, true),
                             term(4, 16, {169, 9}),
                             term(5, 3, {13, 3}),
                             term(6, 3, {1, 1})};
  Tile t = chooseTile(axes, {2, 8});
  CHECK(t.lanes >= 32);
  CHECK(t.parts.size() >= 2);
}

TEST_CASE("an axis that divides addresses is taken whole, so that they are known in advance") {
  Pool pool;
  PoolScope nodes(pool);
  constexpr int64_t kApart = TileAxis::kNotLinear;
  std::vector<TileAxis> axes{output(0, 128, {3200}, false), output(1, 11, {kApart}, false),
                             output(2, 11, {kApart}, true), term(3, 3, {kApart}), term(4, 3, {kApart})};
  for (size_t a = 1; a < axes.size(); ++a) axes[a].gates[0] = true;
  Tile t = chooseTile(axes, {1, 8});
  REQUIRE(!t.parts.empty());
  CHECK(t.parts.back().amount == 11);
  CHECK(t.lanes * 9 <= mostWrittenOut(16));
}

TEST_CASE("every part divides its axis") {
  Pool pool;
  PoolScope nodes(pool);
  for (int64_t n = 1; n < 70; ++n) {
    std::vector<TileAxis> axes{output(0, n, {n, 0}, false), output(1, n + 1, {0, 1}, true),
                               term(2, n + 2, {1, n + 1})};
    for (const Tile::Part& p : chooseTile(axes, {2, 8}).parts)
      CHECK(p.range.src(0).arg().i() % p.amount == 0);
  }
}

TEST_CASE(
    "where the steps of a stride are written out, contiguous results become lanes in spite of their gates") {
  Pool pool;
  PoolScope nodes(pool);
  // A transposed convolution of a picture, 4 by 4 with a stride of 2: each result has 2 by 2 of the 16 terms.
  auto gated = [](TileAxis a) {
    a.gates[0] = true;
    return a;
  };
  const int64_t kNotLinear = TileAxis::kNotLinear;
  std::vector<TileAxis> axes{output(0, 32, {784, 16}, false), gated(output(1, 28, {28, 0}, false)),
                             gated(output(2, 28, {1, 0}, false)), gated(term(3, 4, {kNotLinear, 4})),
                             gated(term(4, 4, {kNotLinear, 1}))};
  // A row's terms decide about rows, and a column's about columns.
  for (size_t i : {1, 2}) axes[i].knownWith = {{axes[i + 2].range}, {}};
  const Tile shared = chooseTile(axes, {2, 16}, {4});
  REQUIRE(!shared.parts.empty());
  CHECK(shared.parts.back().range == axes[2].range);
  CHECK(shared.parts.back().amount == 28);
  axes[2].knownWith = {{axes[3].range, axes[4].range}, {}}; // too many terms to be written out
  CHECK(shared.cycles < chooseTile(axes, {2, 16}).cycles);
  const Tile masked = chooseTile(axes, {2, 16, true});
  CHECK(masked.cycles < chooseTile(axes, {2, 16}).cycles); // lanes side by side are read under a mask
}

TEST_CASE("a product of many floats has more accumulators, each of fewer factors, than a sum") {
  Pool pool;
  PoolScope nodes(pool);
  auto lanesOf = [](int64_t factors, bool multiplies) {
    TileMachine machine{1, 16};
    machine.registers = 32;
    machine.multiplies = multiplies;
    return chooseTile({output(0, 1024, {factors}, true), term(1, factors, {1})}, machine).parts.back().amount;
  };
  CHECK(lanesOf(2048, false) == 16);
  CHECK(lanesOf(2048, true) == 32);
  CHECK(lanesOf(1024, true) == lanesOf(1024, false)); // 64 factors a lane
}

TEST_CASE("a sum across rows takes one long run of memory, not short ones of several rows") {
  Pool pool;
  PoolScope nodes(pool);
  for (int64_t width : {4, 8, 16}) {
    CAPTURE(width);
    // sum over k of x[b, k, j], with 64, 256 and 128 steps
    std::vector<TileAxis> axes{output(0, 64, {256 * 128}, false), output(1, 128, {1}, true),
                               term(2, 256, {128})};
    const Tile t = chooseTile(axes, {1, width});
    REQUIRE(t.parts.size() == 1);
    CHECK(t.parts[0].range == axes[1].range);
    CHECK(t.parts[0].amount == std::min<int64_t>(128, 16 * width));
  }
}

TEST_CASE("elements of eight lanes fill lines of a cache by half: a tile that fits by its numbers alone is "
          "too large") {
  Pool pool;
  PoolScope nodes(pool);
  // sum over k of g[b, k, p] * w[k, o, t]: 128 terms of 8 pictures by 8 places are 32 kB of numbers in 64 kB of lines.
  std::vector<TileAxis> axes{output(0, 8, {100352, 0}, false), output(1, 64, {0, 9}, false),
                             output(2, 784, {1, 0}, false), output(3, 9, {0, 1}, true),
                             term(4, 128, {784, 576})};
  const Tile t = chooseTile(axes, {2, 8});
  CHECK_FALSE((t.parts.size() == 2 && t.parts[0].range == axes[0].range && t.parts[0].amount == 8 &&
               t.parts[1].amount == 8));
}
