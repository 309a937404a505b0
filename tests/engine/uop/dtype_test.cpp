// Data types: the promotion lattice against recorded facts, names, small floats bit by bit.
#include "engine/base/error.h"
#include "engine/uop/dtype.h"
#include "engine/uop/eval.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace uopscope;

namespace {

constexpr DType kOrder[] = {dtypes::bool_,    dtypes::int8,    dtypes::uint8,   dtypes::int16,
                            dtypes::uint16,   dtypes::int32,   dtypes::uint32,  dtypes::int64,
                            dtypes::uint64,   dtypes::fp8e4m3, dtypes::fp8e5m2, dtypes::float16,
                            dtypes::bfloat16, dtypes::float32, dtypes::float64};
/// Row a, column b: position of the least upper type, as observed in the reference.
constexpr const char* kLeastUpper[] = {
    "0123456789abcde", "1133557799abcde", "2323456789abcde", "3333557799abcde", "4545456789abcde",
    "5555557799abcde", "6767676789abcde", "7777777799abcde", "8989898989abcde", "9999999999bbcde",
    "aaaaaaaaababcde", "bbbbbbbbbbbbdde", "cccccccccccdcde", "dddddddddddddde", "eeeeeeeeeeeeeee"};
/// Row a, column b: whether the reference casts a to b without loss.
constexpr const char* kLossless[] = {
    "111111111111111", "010101010001011", "001111111001011", "000101010000011", "000011111000011",
    "000001010000001", "000000111000001", "000000010000000", "000000001000000", "000000000101011",
    "000000000011011", "000000000001011", "000000000000111", "000000000000011", "000000000000001"};

} // namespace

TEST_CASE("least upper types agree with the reference") {
  for (size_t a = 0; a < std::size(kOrder); ++a)
    for (size_t b = 0; b < std::size(kOrder); ++b) {
      char c = kLeastUpper[a][b];
      auto at = static_cast<size_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      CHECK_MESSAGE(dtypes::leastUpper(kOrder[a], kOrder[b]) == kOrder[at], kOrder[a].name(), " ",
                    kOrder[b].name());
      // This engine may know more casts that lose nothing, never fewer.
      if (kLossless[a][b] == '1')
        CHECK_MESSAGE(losslessCast(kOrder[a], kOrder[b]), kOrder[a].name(), " ", kOrder[b].name());
    }
  CHECK(dtypes::leastUpper(std::array{dtypes::uint8, dtypes::int8, dtypes::bool_}) == dtypes::int16);
  CHECK(dtypes::leastUpper(dtypes::index, dtypes::int32) == dtypes::index);
  CHECK(dtypes::leastUpperFloat(dtypes::int32) == dtypes::float32);
  CHECK(dtypes::leastUpperFloat(dtypes::float16) == dtypes::float16);
  CHECK_THROWS_AS(dtypes::leastUpper(dtypes::void_, dtypes::int32), Error);
}

TEST_CASE("losslessCast holds for every value of the 8- and 16-bit types") {
  for (DType from : kOrder) {
    if (from.itemsize() > 2) continue;
    DType bits = from.itemsize() == 1 ? dtypes::uint8 : dtypes::uint16;
    for (DType to : kOrder) {
      if (!losslessCast(from, to) || from.isBool()) continue;
      for (int64_t i = 0; i < (from.itemsize() == 1 ? 256 : 65536); ++i) {
        ConstValue v = evalAlu(Op::BITCAST, from, bits, {ConstValue::ofInt(i)});
        ConstValue there = evalAlu(Op::CAST, to, from, {v}), back = evalAlu(Op::CAST, from, to, {there});
        bool nan = v.kind == ConstValue::Kind::Float && std::isnan(v.f);
        bool same = nan || v == back;
        if (!same) FAIL(from.name(), " ", to.name(), " ", i);
      }
    }
  }
}

TEST_CASE("names are printed as the reference prints them, and read back") {
  CHECK(dtypes::float32.name() == "dtypes.float");
  CHECK(dtypes::uint64.vec(4).name() == "dtypes.ulong.vec(4)");
  CHECK(dtypes::int8.ptr(16).name() == "dtypes.char.ptr(16)");
  CHECK(dtypes::float32.vec(4).ptr(-1, AddrSpace::Reg).vec(2).name() ==
        "dtypes.float.vec(4).ptr(-1, AddrSpace.REG).vec(2)");
  for (DType d : kOrder)
    for (DType v : {d, d.vec(3), d.ptr(7), d.vec(2).ptr(-1, AddrSpace::Local), d.ptr(5).vec(4)})
      CHECK(dtypes::parse(v.name()) == v);
  for (const char* bad : {"", "dtypes.", "dtypes.nothing", "dtypes.int.vec()", "dtypes.int.vec(0)",
                          "dtypes.int.vec(99999)", "dtypes.int.ptr(1", "dtypes.int.ptr(1, X)",
                          "dtypes.int.ptr(1).ptr(1)", "dtypes.int.foo(1)", "dtypes.int.vec(2)x"})
    CHECK_MESSAGE(!dtypes::parse(bad), bad);
  CHECK(dtypes::fromName("half") == dtypes::float16);
  CHECK(dtypes::fromName("float32") == dtypes::float32);
  CHECK(dtypes::fromName("unsigned int") == dtypes::uint32);
}

TEST_CASE(
    "vectors of many pointers: multiples of 64 above 511, and memory below 2^29 elements keeps its size") {
  for (int64_t size : {int64_t{-1}, int64_t{1}, int64_t{4096}, (int64_t{1} << 29) - 2})
    for (AddrSpace space : {AddrSpace::Global, AddrSpace::Reg})
      for (int n : {1, 2, 511, 512, 576, 1024, 2048, 4032}) {
        CAPTURE(size);
        CAPTURE(n);
        const DType d = dtypes::bfloat16.ptr(size, space).vec(n);
        CHECK(d.vcount() == n);
        CHECK(d.size() == size);
        CHECK(d.addrspace() == space);
        CHECK(d.base() == dtypes::bfloat16);
        CHECK(d.isPtr());
        CHECK(dtypes::parse(d.name()) == d);
        CHECK(d.vec(1) == dtypes::bfloat16.ptr(size, space));
        CHECK(d.vec(7) == dtypes::bfloat16.ptr(size, space).vec(7));
        CHECK(d.vec(4032).vec(n) == d);
      }
  const DType large = dtypes::float32.ptr(int64_t{1} << 33);
  CHECK(large.vec(511).size() == int64_t{1} << 33);
  CHECK(large.vec(512).size() == -1); // forgotten
  CHECK(dtypes::float32.vec(4).ptr(64).vec(1024).base() == dtypes::float32.vec(4));
  for (int n : {0, -1, 513, 1000, 4033, 4096}) CHECK_THROWS_AS(large.vec(n), Error);
  CHECK_FALSE(dtypes::parse("dtypes.int.ptr(4).vec(513)"));
  CHECK_FALSE(dtypes::parse("dtypes.int.ptr(4).vec(5000)"));
  CHECK_FALSE(dtypes::parse("imagef((10, 20, 4)).vec(512)"));
}

TEST_CASE("an image is a pointer to pixels with a height and a width") {
  DType f = DType::image({.height = 10, .width = 20}), h = DType::image({7, 131071, false, true});
  CHECK(f.isImage());
  CHECK(f.isPtr());
  CHECK(f.base() == dtypes::float32);
  CHECK(f.addrspace() == AddrSpace::Global);
  CHECK(f.size() == 800);
  CHECK(f.itemsize() == 4);
  CHECK(f.imageShape() == ImageShape{10, 20, true, false});
  CHECK(f.ptr(3) == dtypes::float32.ptr(3));
  CHECK_FALSE(dtypes::float32.ptr(800).isImage());
  CHECK_FALSE(f.base().isImage());
  CHECK(f != DType::image({.height = 20, .width = 10}));
  CHECK(h.size() == 7 * 131071);
  CHECK(h.itemsize() == 2);
  CHECK(f.name() == "dtypes.imagef((10, 20, 4))");
  for (DType d : {f, h, f.vec(3), DType::image({65535, 1, true, true})}) CHECK(dtypes::parse(d.name()) == d);
  for (const char* wrong : {"dtypes.imagef((10, 20, 3))", "imagef((10, 20, 4)", "imagef((0, 2, 4))",
                            "imagef()", "imageh((1, 2, 4)).vec(0)", "imagef((99999, 2))"})
    CHECK_FALSE(dtypes::parse(wrong));
  CHECK_THROWS(DType::image({.height = 65536, .width = 1}));
  CHECK_THROWS(DType::image({.height = 1, .width = 0}));
}

TEST_CASE("small floats: every pattern is its own value, and ties go to even") {
  for (uint32_t i = 0; i < 65536; ++i) {
    auto bits = static_cast<uint16_t>(i);
    double h = dtypes::fromHalf(bits), b = dtypes::fromBFloat16(bits);
    if (!std::isnan(h) && dtypes::toHalf(h) != bits) FAIL("half ", i);
    if (!std::isnan(b) && dtypes::toBFloat16(b) != bits) FAIL("bfloat16 ", i);
    if (std::isnan(h)) CHECK(std::isnan(dtypes::fromHalf(dtypes::toHalf(h))));
#ifdef __FLT16_MAX__
    if (!std::isnan(h)) CHECK(h == static_cast<double>(__builtin_bit_cast(_Float16, bits)));
#endif
  }
  for (DType d : {dtypes::fp8e4m3, dtypes::fp8e5m2})
    for (int i = 0; i < 256; ++i) {
      double v = dtypes::fromFp8(d, static_cast<uint8_t>(i));
      if (!std::isnan(v)) CHECK(dtypes::toFp8(d, v) == i);
    }
  CHECK(dtypes::toHalf(65519.9) == 0x7bff);
  CHECK(dtypes::toHalf(65520) == 0x7c00); // halfway to the next: infinity
  CHECK(dtypes::toHalf(2049) == dtypes::toHalf(2048));
  CHECK(dtypes::toHalf(2051) == dtypes::toHalf(2052));
  CHECK(dtypes::toHalf(std::ldexp(1, -25)) == 0);
  CHECK(dtypes::toHalf(std::ldexp(1.5, -25)) == 1);
  CHECK(dtypes::toHalf(-0.0) == 0x8000);
  CHECK(dtypes::toBFloat16(1 + std::ldexp(1, -8)) == 0x3f80);
  CHECK(dtypes::toBFloat16(1 + std::ldexp(3, -8)) == 0x3f82);
}

TEST_CASE("8-bit floats saturate, as observed in the reference") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  struct {
    double value;
    int e4m3, e5m2;
  } facts[] = {{0.1, 0x1d, 0x2e},   {448, 0x7e, 0x5f},
               {464, 0x7e, 0x5f},   {480, 0x7e, 0x60},
               {1e9, 0x7e, 0x7b},   {inf, 0x7f, 0x7c},
               {-inf, 0xff, 0xfc},  {0.001, 0x1, 0x14},
               {0.002, 0x1, 0x18},  {std::ldexp(1, -10), 0, 0x14},
               {57344, 0x7e, 0x7b}, {61441, 0x7e, 0x7b},
               {-0.0, 0x80, 0x80},  {17, 0x58, 0x4c},
               {19, 0x5a, 0x4d}};
  for (auto f : facts) {
    CHECK_MESSAGE(dtypes::toFp8(dtypes::fp8e4m3, f.value) == f.e4m3, f.value);
    CHECK_MESSAGE(dtypes::toFp8(dtypes::fp8e5m2, f.value) == f.e5m2, f.value);
  }
  CHECK(dtypes::toFp8(dtypes::fp8e4m3, std::nan("")) == 0x7f);
  CHECK(dtypes::toFp8(dtypes::fp8e5m2, std::nan("")) == 0x7e);
  CHECK_THROWS_AS(dtypes::toFp8(dtypes::float16, 1), Error);
}

TEST_CASE("integers wrap, and have their bounds") {
  CHECK(dtypes::wrapInt(dtypes::int8, 200) == -56);
  CHECK(dtypes::wrapInt(dtypes::uint8, -1) == 255);
  CHECK(dtypes::wrapInt(dtypes::bool_, 7) == 1);
  CHECK(dtypes::minInt(dtypes::int16) == -32768);
  CHECK(dtypes::maxInt(dtypes::uint64) == ~uint64_t{0});
  CHECK(dtypes::minInt(dtypes::index) == std::numeric_limits<int64_t>::min());
  CHECK(dtypes::float32.vec(4).itemsize() == 16);
  CHECK(dtypes::float64.ptr(3).itemsize() == 8);
}

TEST_CASE("default types can be set") {
  DType before = dtypes::defaultFloat();
  dtypes::setDefaultFloat(dtypes::float16);
  CHECK(dtypes::leastUpperFloat(dtypes::int32) == dtypes::float16);
  dtypes::setDefaultFloat(before);
  CHECK_THROWS_AS(dtypes::setDefaultFloat(dtypes::int32), Error);
}
