// Rules that are wrong on purpose, one for each stage of the compiler, beside similar correct ones: the check
// finds every wrong rule with an assignment that shows it, and reports no correct one.
#include "engine/codegen/reduce.h"
#include "engine/rewrite/driver.h"
#include "engine/uop/sint.h"
#include "replay/compare/value_check.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::test;

namespace {

using V = ValueCheck::Verdict;

/// Both sides are built in the checker's own pool.
struct Planted {
  RewriteChecker checker;
  PassMemory pass;
  V verdict(UOp before, UOp after) {
    last = checker.check(before, after, {}, &pass);
    INFO(last.why, " ", last.where, " ", last.before, " ", last.after);
    return last.verdict;
  }
  ValueCheck last;
};

UOp buffer(int64_t position, int64_t size, DType type = dtypes::float32) {
  return UOp::make(Op::DEFINE_GLOBAL, type.ptr(size), {}, Arg::of(position));
}
UOp tensor(int64_t number, const std::vector<int64_t>& shape) {
  int64_t size = 1;
  Shape dims;
  for (const int64_t n : shape) size *= n, dims.emplace_back(n);
  const UOp unique = UOp::make(Op::UNIQUE, dtypes::void_, {}, Arg::of(number));
  const UOp device = UOp::make(Op::DEVICE, dtypes::void_, {}, Arg::of("CPU"));
  const UOp flat = UOp::make(Op::BUFFER, dtypes::float32, {unique, device}, Arg::of(size));
  return UOp::make(Op::RESHAPE, dtypes::float32, {flat, shapeToUOp(dims)});
}
UOp permuted(UOp t, std::vector<int64_t> order) {
  return UOp::make(Op::PERMUTE, t.dtype(), {t}, Arg::of(std::move(order)));
}
UOp reshaped(UOp t, const Shape& shape) {
  return UOp::make(Op::RESHAPE, t.dtype(), {t, shapeToUOp(shape)});
}

} // namespace

TEST_CASE("planted rules: lanes of vectors") {
  Planted p;
  const UOp a = buffer(0, 64), i = UOp::range(8, 0);
  const UOp x = a.indexed({i}, dtypes::float32), y = a.indexed({i + 8}, dtypes::float32);
  const UOp v = UOp::vectorize(std::vector<UOp>{x, y});
  CHECK(p.verdict(v.gep({1}), y) == V::Same);
  CHECK(p.verdict(v.gep({1}), x) == V::Differs);
  CHECK(p.verdict(v + v, UOp::vectorize(std::vector<UOp>{x + x, y + y})) == V::Same);
  CHECK(p.verdict(v + v, UOp::vectorize(std::vector<UOp>{y + y, x + x})) == V::Differs);
}

TEST_CASE("planted rules: loads and their gates") {
  Planted p;
  const UOp a = buffer(0, 64), i = UOp::range(12, 0), gate = i < 7;
  const UOp zero = UOp::constant(dtypes::float32, 0.0);
  const UOp read = a.indexed({i}, dtypes::float32);
  CHECK(p.verdict(gate.where(read, zero), a.indexed({i.validWhere(gate)}, dtypes::float32)) == V::Same);
  CHECK(p.verdict(gate.where(read, zero), read) == V::Differs);
  CHECK(p.verdict(gate.where(read, zero), a.indexed({i.validWhere(i < 8)}, dtypes::float32)) == V::Differs);
  CHECK(p.verdict(a.indexed({i}, a.dtype()).load(), a.indexed({i + 1}, a.dtype()).load()) == V::Differs);
  // Four loads against one load of four lanes.
  std::vector<UOp> single;
  for (int64_t k = 0; k < 4; ++k) single.push_back(a.indexed({i * 4 + k}, a.dtype()).load());
  const UOp wide =
      a.indexed({i * 4}, a.dtype()).cast(dtypes::float32.vec(4).ptr(16)).load({}, dtypes::float32.vec(4));
  CHECK(p.verdict(UOp::vectorize(single), wide) == V::Same);
  std::swap(single[1], single[2]);
  CHECK(p.verdict(UOp::vectorize(single), wide) == V::Differs);
}

TEST_CASE("planted rules: reductions") {
  Planted p;
  const UOp a = buffer(0, 64), r = UOp::range(8, 0, AxisType::Reduce), i = UOp::range(8, 1);
  const UOp x = a.indexed({i * 8 + r}, dtypes::float32), two = UOp::constant(dtypes::float32, 2.0);
  auto sum = [&](UOp u) { return u.reduce(Op::ADD, std::vector<UOp>{r}); };
  CHECK(p.verdict(sum(x * two), sum(x) * two) == V::Same);
  CHECK(p.verdict(sum(x + two), sum(x) + two) == V::Differs);
  CHECK(p.verdict(sum(x), x.reduce(Op::MAX, std::vector<UOp>{r})) == V::Differs);
  // A reduction in two steps, and a loop with a wrong initial number.
  const UOp outer = UOp::range(2, 5, AxisType::Reduce), inner = UOp::range(4, 6, AxisType::Reduce);
  const UOp y = a.indexed({i * 8 + outer * 4 + inner}, dtypes::float32);
  CHECK(p.verdict(sum(x), y.reduce(Op::ADD, std::vector<UOp>{outer, inner})) == V::Same);
  CHECK(p.verdict(sum(x), a.indexed({i * 8 + outer * 4 + inner * 0}, dtypes::float32)
                              .reduce(Op::ADD, std::vector<UOp>{outer, inner})) == V::Differs);
  auto loop = [&](double start) {
    const UOp acc =
        UOp::make(Op::DEFINE_REG, dtypes::float32.ptr(1, AddrSpace::Reg), {}, Arg::of(int64_t{0}));
    const UOp at = UOp::index(0);
    const UOp init = acc.after(std::vector<UOp>{i})
                         .indexed({at}, acc.dtype())
                         .store(UOp::constant(dtypes::float32, start));
    const UOp before = acc.after(std::vector<UOp>{init, r}).indexed({at}, dtypes::float32);
    const UOp done = acc.indexed({at}, acc.dtype()).store(before + x).end({r});
    return acc.after(std::vector<UOp>{done}).indexed({at}, dtypes::float32);
  };
  CHECK(p.verdict(sum(x), loop(0)) == V::Same);
  CHECK(p.verdict(sum(x), loop(1)) == V::Differs);
}

TEST_CASE("planted rules: loops and what they store") {
  Planted p;
  const UOp from = buffer(1, 64), to = buffer(0, 64);
  const UOp r = UOp::range(12, 0), outer = UOp::range(3, 7), inner = UOp::range(4, 8);
  CHECK(p.verdict(r, outer * 4 + inner) == V::Same);
  CHECK(p.verdict(r, outer * 3 + inner) == V::Differs);
  auto copy = [&](UOp at, UOp read, std::vector<UOp> loops) {
    return to.indexed({at}, to.dtype()).store(from.indexed({read}, dtypes::float32)).end(loops);
  };
  const UOp flat = outer * 4 + inner;
  CHECK(p.verdict(copy(r, r, {r}), copy(flat, flat, {outer, inner})) == V::Same);
  CHECK(p.verdict(copy(r, r, {r}), copy(flat, inner * 3 + outer, {outer, inner})) == V::Differs);
  CHECK(p.verdict(copy(r, r, {r}), copy(outer, outer, {outer})) == V::Differs); // incomplete
  // A loop cut in two at a condition.
  const UOp low = UOp::range(5, 0), high = UOp::range(7, 9);
  CHECK(p.verdict(copy(r, r, {r}), UOp::groupOf(std::vector<UOp>{
                                       copy(low, low, {low}), copy(high + 5, high + 5, {high})})) == V::Same);
  CHECK(p.verdict(copy(r, r, {r}),
                  UOp::groupOf(std::vector<UOp>{copy(low, low, {low}), copy(high + 4, high + 4, {high})})) ==
        V::Differs);
}

TEST_CASE("planted rules: lanes of expanded loops") {
  Planted p;
  const UOp a = buffer(0, 64);
  const UOp r = UOp::range(4, 3, AxisType::Upcast);
  auto lanes = [&](std::vector<int64_t> order) {
    std::vector<UOp> each;
    for (const int64_t k : order) each.push_back(a.indexed({UOp::index(k)}, dtypes::float32));
    return UOp::make(Op::UNROLL, dtypes::float32, {UOp::vectorize(each)},
                     Arg::of(std::vector<int64_t>{3, 4}));
  };
  CHECK(p.verdict(a.indexed({r}, dtypes::float32), lanes({0, 1, 2, 3})) == V::Same);
  CHECK(p.verdict(a.indexed({r}, dtypes::float32), lanes({0, 2, 1, 3})) == V::Differs);
}

TEST_CASE("planted rules: tensors and the loops they become") {
  Planted p;
  const UOp t = tensor(1, {4, 6});
  CHECK(p.verdict(permuted(permuted(t, {1, 0}), {1, 0}), t) == V::Same);
  CHECK(p.verdict(reshaped(permuted(t, {1, 0}), {Sint(24)}), reshaped(t, {Sint(24)})) == V::Differs);
  CHECK(p.verdict(permuted(t, {1, 0}), t) == V::Differs); // a different shape
  const UOp i = UOp::range(4, 0), j = UOp::range(6, 1), k = UOp::range(6, 2), l = UOp::range(4, 3);
  const UOp value = t.src(0).indexed({i * 6 + j}, dtypes::float32);
  const UOp stored = UOp::make(Op::BUFFERIZE, dtypes::float32, {value, i, j}, Arg::of(BufferizeOpts{}));
  CHECK(p.verdict(stored.indexed({l, k}, dtypes::float32), t.src(0).indexed({l * 6 + k}, dtypes::float32)) ==
        V::Same);
  CHECK(p.verdict(stored.indexed({l, k}, dtypes::float32), t.src(0).indexed({k * 4 + l}, dtypes::float32)) ==
        V::Differs);
}

TEST_CASE("planted rules: a buffer gets one name and keeps it") {
  Planted p;
  const UOp a = tensor(1, {8}).src(0), b = tensor(2, {8}).src(0);
  CHECK(p.verdict(a, buffer(0, 8)) == V::Same);
  CHECK(p.verdict(b, buffer(1, 8)) == V::Same);
  CHECK(p.verdict(b, buffer(0, 8)) == V::Differs);
  CHECK(p.verdict(tensor(3, {8}).src(0), buffer(2, 7)) == V::Differs);
}

TEST_CASE("planted rules: the first wrong step of a trace is named, with its rule") {
  TempTrace file;
  static constexpr RuleDef rules[] = {
      RULE("right-zero", x + 0, x),
      RULE("wrong-product", x * 2, x),
  };
  static const PatternMatcher wrong({rules});
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_4", .script = {}, .root = {}});
    const UOp r = UOp::range(4, 0);
    const UOp to = buffer(0, 16), from = buffer(1, 16);
    const UOp value = from.indexed({(r + 0) * 2}, dtypes::float32);
    graphRewrite(UOp::sink(std::vector<UOp>{to.indexed({r}, to.dtype()).store(value).end({r})}), wrong,
                 {.name = "planted"});
    Observer::current()->poolRetired(pool);
  });
  Trace trace(file.path);
  const ValueSurvey all = checkTrace(trace, {.whole = true});
  REQUIRE(!all.faults.empty());
  CHECK(trace.rule(all.faults[0].rule).name == "wrong-product");
  CHECK(all.faults.back().step == 0); // and the pass as a whole differs
  CHECK(all.differ == 1);
}

TEST_CASE("planted rules: a kernel that differs names the pass after which it does") {
  TempTrace file;
  static constexpr RuleDef right[] = {RULE("right-zero", x + 0, x)},
                           wrong[] = {RULE("wrong-product", x * 2, x)},
                           later[] = {RULE("right-one", x * 1, x)};
  static const PatternMatcher first({right}), second({wrong}), third({later});
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_4", .script = {}, .root = {}});
    const UOp r = UOp::range(4, 0), to = buffer(0, 16);
    const UOp value = buffer(1, 16).indexed({((r + 0) * 1) * 2}, dtypes::float32);
    UOp sink = UOp::sink(std::vector<UOp>{to.indexed({r}, to.dtype()).store(value).end({r})});
    sink = graphRewrite(sink, first, {.name = "simplify"});
    sink = graphRewrite(sink, second, {.name = "planted"});
    graphRewrite(sink, third, {.name = "simplify again"});
    Observer::current()->poolRetired(pool);
  });
  Trace trace(file.path);
  const ValueSurvey all = checkTrace(trace, {.whole = true});
  const auto ofKernel = std::ranges::find_if(all.faults, [](const auto& f) { return f.kernel != 0; });
  REQUIRE(ofKernel != all.faults.end());
  CHECK(trace.pass(ofKernel->pass).name == "planted");
  CHECK(all.kernels.checked == 1);
}
