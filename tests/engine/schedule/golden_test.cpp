// Kernels as text: the scheduler's results for code generation, one small graph each.
#include "engine/uop/print.h"
#include "schedule_fixture.h"

#include <fmt/format.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Prints value expressions on one line: buffers b0, b1 ..., ranges r0, r1 ... with their extents where they
/// are closed.
std::string text(UOp u) {
  auto range = [](UOp r) {
    return fmt::format("{}{}:{}", r.axisType() == AxisType::Reduce ? "R" : "r", r.arg().as<RangeArg>().ids[0],
                       r.src(0).render());
  };
  auto ranges = [&](UOp closing) {
    std::string all;
    for (UOp r : closing.src().subspan(1)) all += " " + range(r);
    return all;
  };
  auto index = [](UOp i) {
    if (i.is(Op::WHERE) && i.src(2).isInvalidConst()) return i.src(1).render() + " if " + i.src(0).render();
    return i.render();
  };
  switch (u.op()) {
  case Op::SINK: {
    std::string all;
    for (UOp s : u.src()) all += text(s) + "\n";
    return all;
  }
  case Op::END: return fmt::format("for{}: {}", ranges(u), text(u.src(0)));
  case Op::STORE: return text(u.src(0)) + " = " + text(u.src(1));
  case Op::INDEX: return fmt::format("b{}[{}]", u.src(0).arg().i(), index(u.src(1)));
  case Op::REDUCE: return fmt::format("{}({},{})", opName(u.arg().op()), text(u.src(0)), ranges(u));
  case Op::CONST: return fmt::format("{:g}", u.constValue().asDouble());
  default: break;
  }
  if (u.dtype().kind() == Scalar::Index || u.dtype().isBool()) return u.render();
  std::string parts;
  for (UOp s : u.src()) parts += (parts.empty() ? "" : ", ") + text(s);
  return fmt::format("{}({})", opName(u.op()), parts);
}
std::string kernels(const Schedule& s) {
  std::string all;
  for (const ScheduleItem& item : s.items) {
    PoolScope there(*item.pool);
    all += text(item.ast);
  }
  return all;
}

} // namespace

TEST_CASE("golden: elementwise, broadcast") {
  Fixture f;
  UOp a = f.tensor({4, 5}), b = f.tensor({1, 5});
  CHECK(kernels(f.schedule({a * expand(b, {4, 5})})) ==
        "for r0:4 r1:5: b0[r0*5+r1] = MUL(b1[r0*5+r1], b2[r1])\n");
}
TEST_CASE("golden: reduction and what follows it") {
  Fixture f;
  UOp a = f.tensor({4, 5});
  CHECK(kernels(f.schedule({sum(a, {1}) * filled(3, {4, 1})})) ==
        "for r0:4: b0[r0] = MUL(ADD(b1[r0*5+r1], R1:5), 3)\n");
}
TEST_CASE("golden: matrix product") {
  Fixture f;
  CHECK(kernels(f.schedule({matmul(f.tensor({4, 6}), f.tensor({6, 5}))})) ==
        "for r0:4 r1:5: b0[r0*5+r1] = ADD(MUL(b1[r0*6+r2], b2[r1+r2*5]), R2:6)\n");
}
TEST_CASE("golden: permutation, flip, pad, shrink") {
  Fixture f;
  UOp a = f.tensor({3, 4});
  CHECK(kernels(f.schedule({contiguous(permute(a, {1, 0}))})) ==
        "for r0:4 r1:3: b0[r0*3+r1] = b1[r0+r1*4]\n");
  CHECK(kernels(f.schedule({contiguous(flip(a, {0, 1}))})) ==
        "for r0:3 r1:4: b0[r0*4+r1] = b1[r0*4+r1*-1+3]\n");
  CHECK(kernels(f.schedule({contiguous(pad(a, {1, 0}, {0, 2}))})) ==
        "for r0:4 r1:6: b0[r0*6+r1] = WHERE(((r0<1)!=True)&(r1<4), b1[r0*4+r1+-4 if (r1<4)&((r0<1)!=True)], "
        "0)\n");
  CHECK(kernels(f.schedule({contiguous(shrink(a, {1, 1}, {3, 4}))})) ==
        "for r0:2 r1:3: b0[r0*3+r1] = b1[r0*4+r1+5]\n");
}
TEST_CASE("golden: permuted reshape") {
  Fixture f;
  CHECK(kernels(f.schedule({contiguous(reshape(permute(f.tensor({4, 6}), {1, 0}), {3, 8}))})) ==
        "for r0:3 r1:8: b0[r0*8+r1] = b1[r1//4+r1%4*6+r0*2]\n");
}
TEST_CASE("golden: softmax") {
  Fixture f;
  UOp x = f.tensor({4, 8});
  UOp e = (x - expand(reduce(x, Op::MAX, {1}), {4, 8})).alu(Op::EXP2);
  CHECK(kernels(f.schedule({e * expand(sum(e, {1}).alu(Op::RECIPROCAL), {4, 8})})) ==
        "for r0:4: b0[r0] = MAX(b1[r0*8+r1], R1:8)\n"
        "for r0:4: b0[r0] = RECIPROCAL(ADD(EXP2(ADD(b1[r0*8+r1], MUL(b2[r0], -1))), R1:8))\n"
        "for r0:4 r1:8: b0[r0*8+r1] = MUL(EXP2(ADD(b1[r0*8+r1], MUL(b2[r0], -1))), b3[r0])\n");
}
TEST_CASE("golden: two outputs") {
  Fixture f;
  UOp a = f.tensor({8}), b = f.tensor({8}), c = f.tensor({8}), d = f.tensor({8});
  CHECK(kernels(f.schedule({(a + b) + c, (a + b) + d})) ==
        "for r0:8: b0[r0] = ADD(ADD(b2[r0], b3[r0]), b4[r0])\n"
        "for r0:8: b1[r0] = ADD(ADD(b2[r0], b3[r0]), b5[r0])\n");
}
TEST_CASE("golden: in place") {
  Fixture f;
  UOp a = f.buffer(8);
  CHECK(kernels(f.schedule({assign(a, a + filled(1, {8}))})) == "for r0:8: b0[r0] = ADD(b0[r0], 1)\n");
}
TEST_CASE("golden: a constant, a scalar") {
  Fixture f;
  CHECK(kernels(f.schedule({contiguous(filled(2, {3}))})) == "for r0:3: b0[r0] = 2\n");
  UOp s = reshape(f.buffer(1), {});
  CHECK(kernels(f.schedule({s + s})) == "b0[0] = MUL(b1[0], 2)\n");
}
