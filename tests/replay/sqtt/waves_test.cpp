// Thread traces of AMD's GPUs: wavefronts, issues and times of streams that are made here, and of bytes that are none.
// tests/devices/sqtt reads traces of a GPU.
#include "engine/base/error.h"
#include "replay/sqtt/waves.h"
#include "tests/replay/sqtt/packet_writer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <tuple>

using namespace uopscope;
using sqtt::Unit;
using test::PacketWriter;

TEST_CASE("wavefronts have their place, their life and the instructions of the traced SIMD") {
  PacketWriter out;
  out.header(1).wait(100).start(0, 1, 3).start(9, 2, 15).issue(3, 0x01, 2).vector(3, 1);
  out.issue(3, 0x5a, 0); // an access by the SIMD beside it
  out.immediates(1 << 3 | 1 << 7, 4).issue(3, 0x04, 1).wait(7).end(9, 2, 15).end(0, 1, 3).wait(5);
  const sqtt::ShaderTrace trace = sqtt::readShaderTrace(out.bytes());
  CHECK(trace.tracedSimd == 1);
  CHECK(trace.cycles == 120);
  REQUIRE(trace.waves.size() == 2);
  const sqtt::Wave &traced = trace.waves[0], &other = trace.waves[1];
  CHECK(std::tuple(traced.processor, traced.simd, traced.slot) == std::tuple(0, 1, 3));
  CHECK(std::tuple(other.processor, other.simd, other.slot) == std::tuple(9, 2, 15));
  CHECK(std::tuple(traced.begin, traced.end, traced.ended) == std::tuple(100, 115, true));
  CHECK(other.issues.empty());
  REQUIRE(traced.issues.size() == 4);
  const Unit units[] = {Unit::ScalarMemory, Unit::Vector, Unit::Immediate, Unit::JumpNotTaken};
  const int64_t cycles[] = {102, 103, 107, 108};
  for (size_t k = 0; k < 4; ++k) {
    CHECK(traced.issues[k].unit == units[k]);
    CHECK(traced.issues[k].cycle == cycles[k]);
  }
}

TEST_CASE("a wavefront whose end is cut off ends with the trace, and one without a begin is left out") {
  PacketWriter out;
  out.header(0).end(0, 0, 1).start(0, 0, 2).wait(40).vector(2, 0);
  std::vector<uint8_t> bytes = out.bytes();
  for (size_t cut = 0; cut < 3; ++cut) { // within the last packets
    const sqtt::ShaderTrace trace = sqtt::readShaderTrace(bytes);
    REQUIRE(trace.waves.size() == 1);
    CHECK_FALSE(trace.waves[0].ended);
    CHECK(trace.waves[0].end == trace.cycles);
    bytes.pop_back();
  }
}

TEST_CASE("the GPU's clock gives cycles their time") {
  PacketWriter out;
  const uint64_t last = (uint64_t{1} << sqtt::Clock::kBits) - 1;
  out.header(0).wait(50).clock(last - 9).wait(200).clock(90); // 100 ticks later: it began again
  const sqtt::Clock clock = sqtt::readShaderTrace(out.bytes()).clock;
  REQUIRE(clock.nsOf(50).has_value());
  CHECK(*clock.nsOf(150) - *clock.nsOf(50) == doctest::Approx(500));
  CHECK(*clock.nsOf(0) == doctest::Approx(*clock.nsOf(50) - 250)); // as even as between the marks
  CHECK_FALSE(sqtt::Clock().nsOf(0).has_value());
}

TEST_CASE("RDNA4 has other places for processors, slots, codes and the clock") {
  PacketWriter out;
  out.header(2, 4).wait4(1000).clock4(7000).start4(0, 2, 5).start4(21, 1, 31).issue4(5, 0x21, 3).vector(5, 1);
  out.issue4(5, 0xbc, 0); // an access by the SIMD beside it
  out.issue4(5, 0x8d, 2).put(0x08 | 6 << 4, 8).end4(21, 1, 31).end4(0, 2, 5).wait4(90).clock4(7010);
  const sqtt::ShaderTrace trace = sqtt::readShaderTrace(out.bytes());
  CHECK(trace.tracedSimd == 2);
  REQUIRE(trace.waves.size() == 2);
  const sqtt::Wave &traced = trace.waves[0], &other = trace.waves[1];
  CHECK(std::tuple(traced.processor, traced.simd, traced.slot) == std::tuple(0, 2, 5));
  CHECK(std::tuple(other.processor, other.simd, other.slot) == std::tuple(21, 1, 31));
  CHECK(std::tuple(traced.begin, traced.end, traced.ended) ==
        std::tuple(1000, 1016, true)); // a short time: 4 and 6
  REQUIRE(traced.issues.size() == 3);
  CHECK(traced.issues[0].unit == Unit::VectorMemory);
  CHECK(traced.issues[1].unit == Unit::Vector);
  CHECK(traced.issues[2].unit == Unit::Vector); // a product of matrices
  CHECK(traced.issues[2].cycle == 1006);
  CHECK(*trace.clock.nsOf(1106) - *trace.clock.nsOf(1000) == doctest::Approx(100));
}

TEST_CASE("CDNA counts cycles, traces four SIMDs of a unit, and has no clock") {
  PacketWriter out;
  out.timestamp(15, 0x801).waitCdna(10).timestamp(5'000'000).waitCdna(5).startCdna(0, 0, 1).startCdna(3, 2,
                                                                                                      0);
  out.waitCdna(2).issueCdna(0, 1, 0).issueCdna(0, 1, 18).waitCdna(1).issueCdna(0, 1, 13).timestamp(5'000'104);
  out.issueCdna(0, 1, 15).endCdna(0, 0, 1).waitCdna(1);
  const sqtt::ShaderTrace trace = sqtt::readShaderTrace(out.bytes());
  CHECK_FALSE(trace.tellsImmediates);
  CHECK_FALSE(trace.clock.nsOf(0).has_value());
  REQUIRE(trace.waves.size() == 2);
  CHECK(trace.waves[0].begin == 60);
  CHECK(trace.waves[0].end ==
        140); // the count of cycles took the place of the waits, less the packet's own 4
  CHECK(trace.waves[0].ended);
  CHECK_FALSE(trace.waves[1].ended);
  CHECK(trace.waves[1].processor == 3);
  REQUIRE(trace.waves[0].issues.size() == 4);
  const Unit units[] = {Unit::ScalarMemory, Unit::Vector, Unit::JumpNotTaken, Unit::Message};
  for (size_t k = 0; k < 4; ++k) CHECK(trace.waves[0].issues[k].unit == units[k]);
}

TEST_CASE("other layouts and other bytes are refused by place, and no bytes crash") {
  CHECK_THROWS_WITH_AS(sqtt::readShaderTrace({}), doctest::Contains("empty"), Error);
  CHECK_THROWS_WITH_AS(sqtt::readShaderTrace(PacketWriter().header(0, 5).bytes()),
                       doctest::Contains("layout 5"), Error);
  CHECK_THROWS_WITH_AS(sqtt::readShaderTrace(PacketWriter().vector(0, 1).bytes()),
                       doctest::Contains("header"), Error);
  CHECK_THROWS_WITH_AS(sqtt::readShaderTrace(PacketWriter().header(0).put(0x07, 8).bytes()),
                       doctest::Contains("byte 8"), Error);
  std::mt19937 random(7);
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    PacketWriter out;
    if (round % 4 == 3)
      out.timestamp(random());
    else
      out.header(random() % 4, 3 + static_cast<uint64_t>(round % 2));
    for (unsigned k = random() % 60; k > 0; --k) out.put(random(), 4 * static_cast<int>(1 + random() % 8));
    try {
      const sqtt::ShaderTrace trace = sqtt::readShaderTrace(out.bytes());
      ++read;
      for (const sqtt::Wave& w : trace.waves) {
        CHECK(w.begin <= w.end);
        CHECK(std::ranges::is_sorted(w.issues, {}, &sqtt::Issue::cycle));
      }
    } catch (const Error&) {
    }
  }
  CHECK(read > 100);
}
