// Several outputs of one kernel.
#include "engine/base/context_var.h"
#include "schedule_fixture.h"

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("outputs that share work are one kernel: 4 reads, 2 writes") {
  Fixture f;
  UOp a = f.tensor({4, 8}), b = f.tensor({4, 8}), c = f.tensor({4, 8}), d = f.tensor({4, 8});
  Schedule s = f.check({(a + b) + c, (a + b) + d}, 1);
  CHECK(s.items[0].buffers.size() == 6);
  CHECK(s.items[0].ast.srcCount() == 2);
}

TEST_CASE("an output that reads another is computed beside it") {
  Fixture f;
  UOp a = f.tensor({4, 8}), x = contiguous(a * a), y = x + filled(1, {4, 8});
  Schedule s = f.check({x, y}, 1);
  CHECK(s.items[0].buffers.size() == 3);
}

TEST_CASE("outputs with nothing in common stay apart") {
  Fixture f;
  f.check({f.tensor({8}) + f.tensor({8}), f.tensor({8}) * f.tensor({8})}, 2);
  UOp small = expand(f.tensor({1, 8}), {8, 8});
  f.check({f.tensor({8, 8}) + small, f.tensor({8, 8}) * small}, 2);
  UOp a = f.tensor({4, 2});
  f.check({a + a, reshape(a, {8}) * reshape(a, {8})}, 2); // different shapes
}

TEST_CASE("no kernel waits for itself") {
  Fixture f;
  UOp a = f.tensor({4, 8});
  UOp x = contiguous(a * a), m = reduce(x, Op::MAX, {1});
  UOp y = x - expand(m, {4, 8});
  f.check({x, y}, 3); // x, its maximum, y
  UOp b = f.tensor({4, 4});
  UOp p = contiguous(b + b), q = contiguous(permute(p, {1, 0}) * b);
  f.check({p, q, p + q}, -1);
}

TEST_CASE("a value that others read elsewhere is stored where it is computed") {
  Fixture f;
  UOp a = f.tensor({6, 6}), b = f.tensor({6, 6});
  UOp m = matmul(a, b), y = m + a; // m is read in order here, and transposed below
  UOp z = matmul(permute(m, {1, 0}), b);
  f.check({y, z}, 2);
}

TEST_CASE("reductions over the same loops") {
  Fixture f;
  UOp a = f.tensor({5, 7});
  UOp s = sum(a, {1});
  f.check({contiguous(s), s * s}, 1);
}

TEST_CASE("sums of the same memory are one kernel") {
  Fixture f;
  UOp a = f.tensor({5, 7}), b = f.tensor({5, 7});
  f.check({sum(a, {1}), reduce(a, Op::MAX, {1}), sum(a * b, {1})}, 1);
  f.check({sum(a, {0}), sum(permute(a, {1, 0}), {1})}, 1); // the same rows by other words
  f.check({sum(a, {0}), sum(a, {1})}, 2);
  f.check({sum(a, {1}), sum(b, {1})}, 2);
  f.check({sum(a, {1}), sum(flip(a, {0, 1}), {1})}, 2); // in another order
  UOp c = f.tensor({6, 6});
  f.check({sum(c, {1}), sum(c, {0})}, 2);
}

TEST_CASE("sums that wait for one another are no kernel together") {
  Fixture f;
  UOp a = f.tensor({5, 7}), s = contiguous(sum(a, {1}));
  f.check({s, sum(a * expand(reshape(s, {5, 1}), {5, 7}), {1})}, 2);
  // The second sum of a waits for x, which waits for the first.
  UOp x = contiguous(expand(reshape(s, {5, 1}), {5, 7}) * a);
  f.check({s, x, sum(a * x, {1})}, -1);
}

TEST_CASE("products of the same operand have tiles of their own") {
  Fixture f;
  UOp a = f.tensor({4, 6}), b = f.tensor({6, 5}), c = f.tensor({6, 5});
  f.check({matmul(a, b), matmul(a, c)}, 2);
}

TEST_CASE("an optimizer's step is one kernel a parameter") {
  Fixture f;
  UOp p = f.buffer(12), m = f.buffer(12), g = f.buffer(12);
  auto value = [&](UOp b, size_t i) { return f.memory[b.id()][i].asDouble(); };
  std::vector<double> wantM, wantP;
  for (size_t i = 0; i < 12; ++i) {
    wantM.push_back(value(m, i) * 2 + value(g, i));
    wantP.push_back(value(p, i) - wantM.back() * 3);
  }
  UOp newM = assign(m, m * filled(2, {12}) + g), newP = assign(p, p - newM * filled(3, {12}));
  Schedule s = f.schedule({newP, newM});
  REQUIRE(s.items.size() == 1);
  CHECK(s.items[0].buffers.size() == 3);
  f.run(s);
  for (size_t i = 0; i < 12; ++i) {
    CHECK(value(m, i) == wantM[i]);
    CHECK(value(p, i) == wantP[i]);
  }
}

TEST_CASE("random graphs with many outputs") {
  Fixture f;
  for (int round = 0; round < 60; ++round) {
    auto pick = [&](size_t n) { return static_cast<size_t>(f.random() % n); };
    std::vector<UOp> values{f.tensor({4, 4}), f.tensor({4, 4})};
    for (int k = 0; k < 10; ++k) {
      UOp x = values[pick(values.size())], y = values[pick(values.size())];
      switch (pick(6)) {
      case 0: values.push_back(x + y); break;
      case 1: values.push_back(x.maximum(y)); break;
      case 2: values.push_back(permute(x, {1, 0})); break;
      case 3:
        values.push_back(x - expand(reduce(y, Op::MAX, {static_cast<int64_t>(pick(2))}), {4, 4}));
        break;
      case 4: values.push_back(contiguous(x - y)); break;
      default: values.push_back(pad(shrink(x, {1, 0}, {4, 3}), {0, 1}, {1, 0})); break;
      }
    }
    std::vector<UOp> outputs;
    for (UOp v : values)
      if (!v.in(group::kMovement) && pick(2)) outputs.push_back(v);
    outputs.push_back(values.back() + values[1]);
    f.check(outputs, -1);
  }
}

TEST_CASE("the parts of a concatenation are stored where their sums would run for all of it") {
  Fixture f;
  auto joined = [&](int64_t terms) { // two sums of 64 columns, side by side
    UOp a = sum(f.tensor({terms, 64}), {0}), b = sum(f.tensor({terms, 64}), {0});
    return pad(a, {0, 0}, {0, 64}) + pad(b, {0, 64}, {0, 0});
  };
  f.check({joined(4)}, 1);
  f.check({joined(1000)}, 3); // 2 * 64 * 1,000 iterations in margins are dearer than two kernels
}

TEST_CASE("a product that a reduction reads has a kernel of its own where its tiles pay for storing it") {
  Fixture f;
  auto product = [&](int64_t terms) { return matmul(f.tensor({32, terms}), f.tensor({terms, 32})); };
  f.check({sum(product(16), {1})}, 1); // 16 iterations for each stored number are too few
  f.check({sum(product(512), {1})}, 2);
  f.check({reduce(product(512), Op::MAX, {0})}, 2);
  f.check({product(512) + filled(1, {32, 32})}, 1); // no reduction reads it
  UOp a = f.tensor({32, 512}), b = f.tensor({32, 512});
  f.check({sum(sum(a * b, {1}), {0})}, 1); // each number is used once: there are no tiles
  // A margin that is no zero is stored beside the product, in loops of its own; the product is stored first, with what is done to it.
  auto inMargin = [&](UOp x) { return pad(x * x, {1, 1}, {1, 1}) + filled(1, {34, 34}); };
  f.check({inMargin(product(512))}, 2);
  f.check({inMargin(product(16))}, 1);
  // A short one keeps lanes beside margins, unlike a convolution (tests/engine/python/test_strided_windows.py).
  UOp wide = matmul(f.tensor({256, 16}), f.tensor({16, 256}));
  CHECK(f.schedule({pad(wide * wide, {1, 1}, {1, 1}) + filled(1, {258, 258})}).items.size() == 1);
}

TEST_CASE(
    "rows whose reductions are reduced to a few results are stored where threads then share enough work") {
  Fixture f;
  auto loss = [&](int64_t results, int64_t rows, int64_t terms) {
    UOp x = f.tensor({results, rows, terms}), each = sum(x * x, {2});
    return sum(each * each, {1});
  };
  f.check({loss(1, 512, 512)}, 2);
  f.check({loss(3, 256, 512)}, 2);
  f.check({loss(1, 64, 64)}, 1);    // a kernel more takes longer than both threads save
  f.check({loss(16, 128, 128)}, 1); // threads share the results
  f.check({loss(1, 4, 65536)}, -1); // rows of few elements are too few for threads
  UOp x = f.tensor({512, 512});
  f.check({sum(x * x, {0, 1})}, -1);
  ContextScope plain({{"PLAIN", 1}});
  CHECK(f.schedule({loss(1, 512, 512)}).items.size() == 1); // nothing goes by price
}

TEST_CASE(
    "a sum whose rows repeat is computed once for each that differs, where that pays for a kernel more") {
  Fixture f;
  auto repeated = [&](int64_t terms, int64_t times) {
    UOp x = reshape(permute(f.tensor({terms, 8}), {1, 0}), {8, 1, terms});
    return sum(expand(x, {8, times, terms}) * filled(3, {8, times, terms}), {2});
  };
  f.check({repeated(16, 4)}, 1);
  f.check({repeated(128, 64)}, 1); // in lanes it is soon done
  f.check({repeated(1024, 256)}, 2);
  UOp padded = pad(filled(1, {64, 1}), {0, 0}, {0, 511}) + expand(f.tensor({1, 512}), {64, 512});
  f.check({sum(expand(reshape(permute(padded, {1, 0}), {512, 64, 1}), {512, 64, 8}), {0})},
          -1); // margins are no repetition
  f.check({sum(expand(reshape(pad(filled(1, {512, 8}), {0, 0}, {0, 56}), {512, 1, 64}), {512, 8, 64}) *
                   expand(f.tensor({512, 1, 1}), {512, 8, 64}),
               {0})},
          -1);
  UOp result = repeated(1024, 256);
  Schedule s = f.schedule({result});
  UOp memory = Fixture::became(s, result);
  while (!memory.is(Op::BUFFER)) memory = memory.src(0);
  CHECK(memory.arg().i() == 8 * 256); // of its whole shape
}
