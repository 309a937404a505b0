// Arguments: interning, printing as Python does, and the text form of traces.
#include "engine/base/error.h"
#include "engine/uop/arg.h"
#include "engine/uop/text.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <thread>

using namespace uopscope;

namespace {

std::vector<Arg> examples() {
  KernelInfo k;
  k.name = "r_16'\"\n\\x";
  k.axisTypes = {AxisType::Global, AxisType::GroupReduce};
  k.dontUseLocals = true;
  k.appliedOpts = {Opt{OptOp::TC, 0, {-1, 2, 1}}, Opt{OptOp::NOLOCALS, -1, {}}};
  KernelInfo empty = k;
  empty.hasOptsToApply = true;
  WmmaArg w{"WMMA_8",
            {8, 16, 16},
            dtypes::float16,
            dtypes::float32.vec(4),
            "CUDA",
            32,
            {{{0, 2}, {1, 4}}, {}, {{5, 2}}},
            {3}};
  return {Arg(),
          Arg::ofBool(true),
          Arg::ofBool(false),
          Arg::of(int64_t{0}),
          Arg::of(std::numeric_limits<int64_t>::min()),
          Arg::of(std::numeric_limits<int64_t>::max()),
          Arg::of(0.0),
          Arg::of(-0.0),
          Arg::of(0.1),
          Arg::of(1e300),
          Arg::of(5e-324),
          Arg::of(-1e-5),
          Arg::of(std::numeric_limits<double>::infinity()),
          Arg::of(-std::numeric_limits<double>::infinity()),
          Arg::of(std::numeric_limits<double>::quiet_NaN()),
          Arg::of(__builtin_bit_cast(double, 0xfff8000000000123ull)),
          Arg::invalid(),
          Arg::of(Op::ADD),
          Arg::of(Op::PTRCAT),
          Arg::of(""),
          Arg::of("plain"),
          Arg::of("it's \"quoted\"\n\t\\ \x01 \xff\xfe \xc3\xa9 \xf0\x9f\x98\x80"),
          Arg::of(std::string_view("a\0b", 3)),
          Arg::of(std::vector<int64_t>{}),
          Arg::of(std::vector<int64_t>{1}),
          Arg::of(std::vector<int64_t>{-1, 2, 3}),
          Arg::of(std::vector<std::string>{}),
          Arg::of(std::vector<std::string>{"CPU:0", "CPU:1,'"}),
          Arg::of(RangeArg{{0}, AxisType::Reduce}),
          Arg::of(RangeArg{{-1, 4, 2}, AxisType::Placeholder}),
          Arg::of(ReduceArg{Op::MAX, {0, 2}}),
          Arg::of(ReduceArg{Op::MUL, {}}),
          Arg::of(VarArg{"start pos", -5, 10}),
          Arg::of(BufferizeOpts{"", AddrSpace::Reg, false}),
          Arg::of(BufferizeOpts{"CUDA", AddrSpace::Global, true}),
          Arg::of(k),
          Arg::of(empty),
          Arg::of(KernelInfo{}),
          Arg::of(std::vector<ConstValue>{ConstValue::ofInt(3), ConstValue::ofFloat(-0.0),
                                          ConstValue::invalid(), ConstValue::ofBool(true)}),
          Arg::of(std::vector<ConstValue>{}),
          Arg::of(w),
          Arg::of(WmmaArg{}),
          Arg::of(std::vector<Opt>{}),
          Arg::of(std::vector<Opt>{Opt{OptOp::SWAP, 1, {2}}})};
}

} // namespace

TEST_CASE("every kind of argument is read back from its text, which is one line") {
  auto all = examples();
  for (size_t i = 0; i < all.size(); ++i) {
    std::string text = all[i].encode();
    CHECK_MESSAGE(Arg::decode(text) == all[i], text);
    CHECK(text.find('\n') == text.npos);
    for (size_t k = 0; k < i; ++k) CHECK_MESSAGE(!(all[i] == all[k]), text);
  }
}

TEST_CASE("hostile text is an error, never a crash") {
  for (const char* bad : {"(",
                          "(1",
                          "(1,,2)",
                          "'",
                          "'\\x4",
                          "'\\q'",
                          "Range(",
                          "Range(0;NOSUCH)",
                          "Range(0;LOOP",
                          "Kernel('a';;2;[];-)",
                          "@NOSUCH",
                          "nan(12345678901234567)",
                          "nan(0)",
                          "99999999999999999999",
                          "1 2",
                          "Wmma('a';1;'dtypes.x';'';'';1;;)",
                          "Opts",
                          "[TC]",
                          "[TC:x]",
                          "[UPCAST:99999999999:1]",
                          "Consts(1",
                          "{'a'",
                          "Nothing()",
                          "true1",
                          "()x",
                          "--1",
                          "1e",
                          "-"})
    CHECK_THROWS_AS_MESSAGE(Arg::decode(bad), Error, bad);
  std::mt19937 random(3);
  auto all = examples();
  for (int i = 0; i < 20000; ++i) {
    std::string text = all[random() % all.size()].encode();
    for (unsigned k = random() % 4 + 1; k && !text.empty(); --k) {
      size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1);
      else
        text[at] =
            static_cast<char>(random() % 3 ? "()[]{};:,'\"\\0123456789-.eLOPRange"[random() % 33] : random());
    }
    try {
      Arg a = Arg::decode(text);
      CHECK_MESSAGE(Arg::decode(a.encode()) == a, text);
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::Value);
    }
  }
}

TEST_CASE("equal content is one argument, from any thread") {
  Arg mine = Arg::of(RangeArg{{41, 42}, AxisType::Warp}), theirs;
  std::thread other([&] { theirs = Arg::of(RangeArg{{41, 42}, AxisType::Warp}); });
  other.join();
  CHECK(mine == theirs);
  CHECK(mine.hash() == theirs.hash());
  CHECK(Arg::of("x").hash() != Arg::of("y").hash());
  CHECK(!(Arg::of(0.0) == Arg::of(-0.0)));
  CHECK(Arg::of(std::numeric_limits<double>::quiet_NaN()) ==
        Arg::of(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("arguments print as Python prints them") {
  CHECK(Arg().repr() == "None");
  CHECK(Arg::ofBool(true).repr() == "True");
  CHECK(Arg::of(std::vector<int64_t>{1}).repr() == "(1,)");
  CHECK(Arg::of(RangeArg{{0, 1}, AxisType::Upcast}).repr() == "(0, 1, AxisType.UPCAST)");
  CHECK(Arg::of(ReduceArg{Op::ADD, {1}}).repr() == "(Ops.ADD, (1,))");
  CHECK(Arg::of("it's").repr() == "\"it's\"");
  CHECK(toString(Opt{OptOp::UPCAST, 0, {4}}) == "Opt(op=OptOps.UPCAST, axis=0, arg=4)");
  // As CPython prints these doubles.
  CHECK(pyFloat(0.1) == "0.1");
  CHECK(pyFloat(1.0) == "1.0");
  CHECK(pyFloat(1e16) == "1e+16");
  CHECK(pyFloat(123456789012345680.0) == "1.2345678901234568e+17");
  CHECK(pyFloat(0.0001) == "0.0001");
  CHECK(pyFloat(0.00001) == "1e-05");
  CHECK(pyFloat(-2.5e-8) == "-2.5e-08");
  CHECK(pyFloat(1234567.0) == "1234567.0");
}

TEST_CASE("names of axes and optimisations") {
  CHECK(axisTypeFromName("AxisType.GROUP_REDUCE") == AxisType::GroupReduce);
  CHECK(!axisTypeFromName("nothing"));
  CHECK(optOpFromName("OptOps.PADTO") == OptOp::PADTO);
  CHECK(axisTypeLetter(AxisType::Global) == 'g');
}
