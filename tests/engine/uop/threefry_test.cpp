// The rounds of threefry, shared by kernels and tensors, give the bits of the reference evaluation.
#include "engine/uop/eval.h"
#include "engine/uop/threefry.h"

#include <doctest/doctest.h>

#include <bit>
#include <random>

using namespace uopscope;

namespace {

struct Words {
  uint32_t add(uint32_t x, uint32_t y) const { return x + y; }
  uint32_t plus(uint32_t x, int64_t by) const { return x + static_cast<uint32_t>(by); }
  uint32_t exclusiveOr(uint32_t x, uint32_t y) const { return x ^ y; }
  uint32_t exclusiveOr(uint32_t x, int64_t by) const { return x ^ static_cast<uint32_t>(by); }
  uint32_t rotate(uint32_t v, int by) const { return std::rotl(v, by); }
};

} // namespace

TEST_CASE("Threefry by shared rounds") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000; ++i) {
    uint64_t counter = i < 4 ? static_cast<uint64_t>(i) : random(), key = i % 3 ? random() : 0;
    auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
    auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
    auto [a, b] = threefryRounds(Words(), low(counter), high(counter), low(key), high(key));
    CHECK((uint64_t{b} << 32 | a) == threefry2x32(counter, key));
  }
}
