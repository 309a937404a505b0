// Graphs to kernels: the number of kernels, and the values that they compute.
#include "engine/base/context_var.h"
#include "schedule_fixture.h"

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("an elementwise chain is one kernel") {
  Fixture f;
  UOp a = f.tensor({4, 5}), b = f.tensor({4, 5});
  Schedule s = f.check({(a + b) * a + b}, 1);
  CHECK(s.items[0].buffers.size() == 3);
}

TEST_CASE("broadcasting reads the small side again") {
  Fixture f;
  UOp a = f.tensor({4, 5}), b = f.tensor({1, 5});
  f.check({a * expand(b, {4, 5})}, 1);
}

TEST_CASE("reductions over one, several and all axes") {
  Fixture f;
  UOp a = f.tensor({3, 4, 5});
  f.check({sum(a, {1})}, 1);
  f.check({reduce(a, Op::MAX, {0, 2})}, 1);
  f.check({sum(a, {0, 1, 2})}, 1);
  f.check({sum(sum(a, {2}), {0})}, 1);
}

TEST_CASE("a matrix product is one kernel, with what follows it") {
  Fixture f;
  UOp a = f.tensor({4, 6}), b = f.tensor({6, 5}), c = f.tensor({4, 5});
  f.check({matmul(a, b)}, 1);
  f.check({(matmul(a, b) + c).maximum(filled(0, {4, 5}))}, 1);
}

TEST_CASE("two products in a row are two kernels") {
  Fixture f;
  UOp a = f.tensor({4, 6}), b = f.tensor({6, 5}), c = f.tensor({5, 3});
  f.check({matmul(matmul(a, b), c)}, 2);
}

TEST_CASE("softmax") {
  Fixture f;
  UOp x = f.tensor({4, 8});
  UOp m = reduce(x, Op::MAX, {1});
  UOp e = (x - expand(m, {4, 8})).alu(Op::EXP2);
  UOp y = e * expand(sum(e, {1}).alu(Op::RECIPROCAL), {4, 8});
  f.check({y}, 3);
}

TEST_CASE("padding gives zeros, also where memory ends") {
  Fixture f;
  UOp a = f.tensor({3, 4});
  f.check({contiguous(pad(a, {1, 0}, {2, 3}))}, 1);
  UOp b = pad(a + filled(1, {3, 4}), {1, 2}, {0, 1});
  f.check({b * filled(2, {4, 7})}, 1);
  f.check({sum(pad(a, {0, 2}, {0, 2}), {1})}, 1);
}

TEST_CASE("flips, permutations and reshapes") {
  Fixture f;
  UOp a = f.tensor({3, 4, 5});
  f.check({contiguous(flip(a, {1, 0, 1}))}, 1);
  f.check({contiguous(reshape(permute(a, {2, 0, 1}), {15, 4}))}, 1);
  f.check({contiguous(shrink(reshape(permute(a, {1, 2, 0}), {6, 10}), {1, 2}, {5, 9}))}, 1);
}

TEST_CASE("a convolution by shifted windows is one kernel") {
  Fixture f;
  // x (2,6,6), w (3,2,3,3) -> (3,4,4): windows by repeating rows, as pooled movement does.
  UOp x = f.tensor({2, 6, 6}), w = f.tensor({3, 2, 3, 3});
  UOp r = reshape(expand(reshape(x, {2, 1, 6, 1, 6}), {2, 4, 6, 4, 6}), {2, 24, 24});
  r = shrink(r, {0, 0, 0}, {2, 21, 21}); // 3*(6+1) of each
  r = reshape(r, {2, 3, 7, 3, 7});
  r = shrink(r, {0, 0, 0, 0, 0}, {2, 3, 4, 3, 4}); // (c, ky, y, kx, x)
  r = permute(r, {0, 1, 3, 2, 4});                 // (c, ky, kx, y, x)
  UOp left = expand(reshape(r, {1, 2, 3, 3, 4, 4}), {3, 2, 3, 3, 4, 4});
  UOp right = expand(reshape(w, {3, 2, 3, 3, 1, 1}), {3, 2, 3, 3, 4, 4});
  Schedule s = f.check({reshape(sum(left * right, {1, 2, 3}), {3, 4, 4})}, 1);
  CHECK(s.items[0].buffers.size() == 3);
}

TEST_CASE("a diamond shares its top") {
  Fixture f;
  UOp a = f.tensor({4, 4});
  UOp top = a * a + a;
  f.check({(top + filled(1, {4, 4})) * (top - filled(2, {4, 4}))}, 1);
  UOp s = sum(a, {1});
  f.check({expand(s, {4, 4}) * a + expand(s * s, {4, 4})}, 2);
}

TEST_CASE("cheap values read at two places are computed twice, reductions are not") {
  Fixture f;
  UOp a = f.tensor({5, 5}), b = f.tensor({5, 5});
  UOp c = a + b;
  f.check({c + permute(c, {1, 0})}, 1);
  UOp m = matmul(a, b);
  f.check({m + permute(m, {1, 0})}, 2);
}

TEST_CASE("counting needs no loop and no buffer") {
  Fixture f;
  // arange as a running sum of ones: row i of a window of n sums i+1 of them.
  auto arange = [](int64_t n) {
    UOp x = pad(filled(1, {n}, dtypes::int32), {n - 1}, {0});
    x = reshape(
        shrink(reshape(expand(reshape(x, {1, 2 * n - 1}), {n + 1, 2 * n - 1}), {(n + 1) * (2 * n - 1)}), {0},
               {n * 2 * n}),
        {n, 2 * n});
    return sum(shrink(x, {0, 0}, {n, n}), {1});
  };
  UOp count = arange(7);
  Schedule s = f.check({reshape(count, {7}) * f.tensor({7}, dtypes::int32)}, 1);
  for (UOp u : s.items[0].ast.toposort()) CHECK_FALSE(u.is(Op::REDUCE));
  f.check({expand(count, {7, 7}) + permute(expand(count, {7, 7}), {1, 0})}, 1);
}

TEST_CASE("scalars and shapeless graphs") {
  Fixture f;
  UOp a = reshape(f.buffer(1), {});
  f.check({a + a}, 1);
  UOp total = sum(f.tensor({6}), {0});
  f.check({reshape(total, {}) * a}, 1);
  f.check({contiguous(filled(3, {2, 2}))}, 1);
}

TEST_CASE("empty tensors need no kernel") {
  Fixture f;
  UOp a = reshape(newBuffer("CPU", dtypes::float32, 0), {0, 3});
  Schedule s = f.schedule({a + a});
  CHECK(s.items.empty());
  // An empty sum is zero, and is stored at its use.
  Schedule t = f.schedule({contiguous(sum(a, {0}))});
  CHECK(t.items.size() == 1);
  f.run(t);
  CHECK(f.memoryOf(t.items[0].buffers[0])[2].asDouble() == 0);
}

TEST_CASE("realizing what has memory takes no kernel") {
  Fixture f;
  UOp a = f.tensor({4, 3});
  CHECK(f.schedule({a, permute(a, {1, 0}), contiguous(a)}).items.empty());
  CHECK(f.schedule({scalar(3), filled(1, {3, 3})}).items.empty());
}

TEST_CASE("copies between devices") {
  Fixture f;
  UOp a = f.buffer(6);
  UOp there = UOp::make(Op::COPY, a.dtype(), {a, deviceNode("CPU:1")});
  Schedule s = f.check({there}, 1);
  CHECK(s.items[0].ast.is(Op::COPY));
  CHECK(s.items[0].buffers[0]->device() == "CPU:1");
  CHECK(s.items[0].buffers[1].get() == a);
  UOp x = f.tensor({2, 3});
  UOp y = UOp::make(Op::COPY, x.dtype(), {permute(x, {1, 0}), deviceNode("CPU:1")});
  f.check({y + y}, 3);
  // A copy to the same device is left out; a constant exists on every device.
  UOp here = UOp::make(Op::COPY, a.dtype(), {a, deviceNode("CPU")});
  f.check({here + here}, 1);
  UOp c = UOp::make(Op::CONST, dtypes::float32, {deviceNode("CPU")}, Arg::of(3.0));
  UOp three = UOp::make(Op::COPY, dtypes::float32, {c, deviceNode("CPU:1")});
  Schedule constant =
      f.schedule({there + UOp::make(Op::EXPAND, dtypes::float32,
                                    {UOp::make(Op::RESHAPE, dtypes::float32, {three, shapeToUOp(Shape{1})}),
                                     shapeToUOp(Shape{6})})});
  CHECK(constant.items.size() == 2);
}

TEST_CASE("a long reduction is split in two, unless it is not to be") {
  Fixture f;
  UOp a = newBuffer("CPU", dtypes::float32, 1 << 20);
  UOp sum = UOp::make(Op::REDUCE_AXIS, a.dtype(), {a}, Arg::of(ReduceArg{Op::ADD, {0}}));
  CHECK(f.schedule({sum}).items.size() == 2);
  ContextScope whole({{"SPLIT_REDUCEOP", 0}});
  clearScheduleCache();
  CHECK(f.schedule({sum}).items.size() == 1);
}

TEST_CASE("movement chains at random compute what arrays do") {
  Fixture f;
  for (int round = 0; round < 150; ++round) {
    auto pick = [&](int64_t n) { return static_cast<int64_t>(f.random() % static_cast<unsigned>(n)); };
    UOp x = f.tensor({2 + pick(3), 1 + pick(4), 2 + pick(3)});
    int steps = 1 + static_cast<int>(pick(6));
    for (int k = 0; k < steps; ++k) {
      Dims d = dimsOf(x);
      Dims zero(d.size(), 0), a = zero, b = zero;
      switch (pick(7)) {
      case 0: {
        Dims order;
        for (size_t i = 0; i < d.size(); ++i) order.push_back(static_cast<int64_t>(i));
        std::shuffle(order.begin(), order.end(), f.random);
        x = permute(x, order);
        break;
      }
      case 1:
        for (auto& v : a) v = pick(2);
        x = flip(x, a);
        break;
      case 2:
        for (size_t i = 0; i < d.size(); ++i) a[i] = pick(3), b[i] = pick(2);
        if (sizeOf(d) < 400) x = pad(x, a, b);
        break;
      case 3:
        for (size_t i = 0; i < d.size(); ++i) a[i] = pick(d[i]), b[i] = a[i] + 1 + pick(d[i] - a[i]);
        x = shrink(x, a, b);
        break;
      case 4: {
        int64_t n = sizeOf(d);
        Dims to;
        for (int64_t p : {2, 3, 5})
          if (n % p == 0) to.push_back(p), n /= p;
        to.push_back(n);
        std::shuffle(to.begin(), to.end(), f.random);
        x = reshape(x, to);
        break;
      }
      case 5:
        for (auto& v : d)
          if (v == 1 && sizeOf(d) < 200) v = 1 + pick(3);
        x = expand(x, d);
        break;
      default: x = x * x + x; break;
      }
    }
    CAPTURE(x.str());
    f.check({x + x}, -1);
    f.check({sum(x, {pick(static_cast<int64_t>(dimsOf(x).size()))})}, -1);
  }
}
