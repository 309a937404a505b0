// Printing: the text for people, and pyrender's text, which builds the same graph again.
#include "engine/base/error.h"
#include "engine/uop/print.h"

#include <doctest/doctest.h>

#include <limits>
#include <set>

using namespace uopscope;

namespace {

struct PrintFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp r0 = UOp::range(8, 0), r1 = UOp::range(4, 1, AxisType::Reduce);
  UOp n = UOp::variable("n", 1, 10);

  void roundTrip(UOp u) {
    std::string text = pyrender(u);
    CHECK_MESSAGE(parseUOp(text) == u, text);
  }
  UOp kernel() {
    UOp a = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(8), std::initializer_list<UOp>{},
                      Arg::of(int64_t{0}));
    UOp b = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(32), std::initializer_list<UOp>{},
                      Arg::of(int64_t{1}));
    UOp value = b.indexed({r0 * 4 + r1}).load();
    UOp sum = (value * value.constLike(ConstValue::ofFloat(0.1))).reduce(Op::ADD, std::vector{r1});
    UOp gated = (r0 + 1).validWhere(r0 < 7);
    UOp end = a.indexed({gated}).store(sum.alu(Op::SQRT)).end({r0});
    KernelInfo info;
    info.name = "r_8_4";
    info.axisTypes = {AxisType::Loop, AxisType::Reduce};
    info.appliedOpts = {Opt{OptOp::UPCAST, 0, {4}}, Opt{OptOp::TC, -1, {1, 2}}};
    return UOp::sink(std::vector{end}, Arg::of(info));
  }
};

} // namespace

TEST_CASE_FIXTURE(PrintFixture, "expressions carry the parentheses they need and no more") {
  CHECK((r0 * 4 + r1).render() == "r0*4+r1");
  CHECK(((r0 + r1) * 4).render() == "(r0+r1)*4");
  CHECK((r0 / 2 * 2).render() == "r0//2*2");
  CHECK(r0.alu(Op::IDIV, {r1 * 2}).render() == "r0//(r1*2)");
  CHECK((r0 < 3).logicalNot().render() == "(r0<3)!=True");
  CHECK(r0.maximum(n).render() == "max(r0, n)");
  CHECK((r0 < 3).where(r0, n).render() == "(r0 if r0<3 else n)");
  CHECK(r0.cast(dtypes::float32).render() == "(float)(r0)");
  CHECK(expression(r0 * 4 + r1, 1) == "#" + std::to_string((r0 * 4).id()) + "+#" + std::to_string(r1.id()));
}

TEST_CASE_FIXTURE(PrintFixture, "a tree names what is shared") {
  UOp x = r0 + 1;
  CHECK((x * x).str() == "UOp(Ops.MUL, dtypes.index, arg=None, src=(\n"
                         "  x0:=UOp(Ops.ADD, dtypes.index, arg=None, src=(\n"
                         "    UOp(Ops.RANGE, dtypes.index, arg=(0, AxisType.LOOP), src=(\n"
                         "      UOp(Ops.CONST, dtypes.index, arg=8, src=()),)),\n"
                         "    UOp(Ops.CONST, dtypes.index, arg=1, src=()),)),\n"
                         "  x0,))");
}

TEST_CASE_FIXTURE(PrintFixture, "pyrender is read back to the same node") {
  CHECK(pyrender(r0 * 4 + n) == "c0 = UOp.range(8, 0, AxisType.LOOP)\nast = c0*4+UOp.variable('n', 1, 10)");
  roundTrip(r0 * 4 + n);
  roundTrip(kernel());
  roundTrip((r0 < 3).logicalNot() & (n < r0) & (r0 < n).where(r1 < 2, UOp::boolean(false)));
  roundTrip(UOp::constant(dtypes::float32, std::numeric_limits<double>::infinity()));
  roundTrip(UOp::constant(dtypes::float16.vec(4), 1.5));
  roundTrip(r0.cast(dtypes::float32)
                .alu(Op::EXP2)
                .bitcast(dtypes::uint32)
                .alu(Op::SHL, {UOp::constant(dtypes::uint32, int64_t{3})}));
  roundTrip(UOp::constant(dtypes::uint64, int64_t{-1}) * UOp::constant(dtypes::uint64, int64_t{2}));
  roundTrip(UOp::range(n, {3, 1}, AxisType::GroupReduce).withTag(Arg::of("it's")));
  roundTrip(UOp::make(Op::REDUCE_AXIS, dtypes::float32, {r0.cast(dtypes::float32)},
                      Arg::of(ReduceArg{Op::MAX, {0, 2}})));
  roundTrip(UOp::make(Op::BUFFERIZE, dtypes::index, {r0, r1},
                      Arg::of(BufferizeOpts{"CPU", AddrSpace::Local, false})));
  roundTrip(UOp::make(Op::DEVICE, dtypes::void_, std::initializer_list<UOp>{},
                      Arg::of(std::vector<std::string>{"A:0", "A:1"})));
  roundTrip(r0.gep({0}).broadcast(3).gep({2, 1}));
  roundTrip(UOp::special(UOp::index(16), "gidx0").cast(dtypes::int32));
}

TEST_CASE_FIXTURE(PrintFixture, "long chains and heavy sharing print in linear time") {
  UOp chain = r0;
  for (int i = 0; i < 50000; ++i)
    chain = chain.alu(Op::MAX, {UOp::variable("v" + std::to_string(i % 7), 0, 9)});
  CHECK(chain.render().size() > 50000);
  CHECK(chain.str().size() < 100u << 20);
  roundTrip(chain);
  UOp doubled = n;
  for (int i = 0; i < 300; ++i) doubled = doubled + doubled;
  CHECK(doubled.str().size() < 300000);
  CHECK(doubled.render().size() < size_t{4} << 20);
  roundTrip(doubled);
}

TEST_CASE_FIXTURE(PrintFixture, "text that is no graph is refused with its line") {
  for (const char* text :
       {"", "x", "c0 = ", "c0 = UOp.range(4, 0", "c0 = UOp(Ops.NOSUCH, dtypes.int)", "c0 = 3", "c0 = c1",
        "c0 = UOp.const(dtypes.int, 'x')", "c0 = UOp.const(dtypes.nosuch, 1)",
        "c0 = UOp.const(dtypes.int, 1) +", "c0 = UOp.const(dtypes.int, 99999999999999999999)",
        "c0 = UOp.frobnicate(1)", "c0 = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(8), (),)"})
    CHECK_THROWS_AS_MESSAGE(parseUOp(text), Error, text);
  CHECK_THROWS_WITH_AS(parseUOp("c0 = UOp.const(dtypes.int, 1)\nc1 = c0 + nothing"),
                       doctest::Contains("line 2"), Error);
  CHECK_THROWS_AS(parseUOp("c0 = " + std::string(100000, '(')), Error);
}

TEST_CASE("symbols belong to binary operations, each its own") {
  std::set<std::string_view> symbols;
  for (int k = 0; k < kOpCount; ++k) {
    auto op = static_cast<Op>(k);
    if (opSymbol(op).empty()) continue;
    CHECK(group::kBinary.has(op));
    CHECK_MESSAGE(symbols.insert(opSymbol(op)).second, opName(op));
  }
  CHECK(symbols.size() == 14);
  CHECK(opSymbol(Op::IDIV) == "//");
  CHECK(opSymbol(Op::MAX).empty());
}
