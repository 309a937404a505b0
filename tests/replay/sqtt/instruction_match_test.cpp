// Issues of wavefronts follow the program, through loops too; what does not follow it is found.
#include "replay/sqtt/instruction_match.h"

#include <doctest/doctest.h>

using namespace uopscope;
using sqtt::Unit;

namespace {
constexpr const char* kLoop = "k:\n"
                              "\ts_load_b64 s[0:1], s[0:1], 0x10\n"
                              ".L0:\n"
                              "\ts_delay_alu instid0(VALU_DEP_1)\n"
                              "\tglobal_load_b32 v1, v0, s[6:7]\n"
                              "\ts_waitcnt vmcnt(0)\n"
                              "\tv_add_f32_e32 v1, v1, v2\n"
                              "\ts_cbranch_scc0 .L0\n"
                              "\ts_delay_alu instid0(VALU_DEP_1)\n"
                              "\ts_sendmsg sendmsg(MSG_DEALLOC_VGPRS)\n"
                              "\ts_endpgm\n";

sqtt::Wave waveOf(const std::vector<Unit>& units, bool ended = true) {
  sqtt::Wave wave;
  wave.begin = 10;
  wave.ended = ended;
  int64_t cycle = 10;
  for (size_t k = 0; k < units.size(); ++k)
    wave.issues.push_back({cycle += units[k] == Unit::Immediate ? 100 : 1, units[k]}); // it waits
  wave.end = cycle + 3;
  return wave;
}
const std::vector<Unit> kTwice = {Unit::ScalarMemory, Unit::VectorMemory, Unit::Immediate, Unit::Vector,
                                  Unit::JumpTaken,    Unit::VectorMemory, Unit::Immediate, Unit::Vector,
                                  Unit::JumpNotTaken, Unit::Message};
} // namespace

TEST_CASE("a wavefront follows a loop, and each line gets its costs") {
  const sqtt::Program program(kLoop);
  REQUIRE(program.lines().size() == 9);
  CHECK(program.lines()[1].labels == std::vector<std::string>{".L0:"});
  const sqtt::Wave wave = waveOf(kTwice);
  const sqtt::Match match = program.follow(wave);
  CHECK(match.complete);
  CHECK(match.lines == std::vector<uint32_t>{0, 2, 3, 4, 5, 2, 3, 4, 5, 7});
  std::vector<sqtt::LineCost> costs(program.lines().size());
  program.addCosts(wave, match, costs);
  program.addCosts(wave, match, costs);
  CHECK(costs[3].issues == 4);
  CHECK(costs[3].cycles == 400);
  CHECK(costs[1].issues == 0);
  CHECK(costs[8].issues == 2); // s_endpgm
  CHECK(costs[8].cycles == 6);
  int64_t all = 0;
  for (const sqtt::LineCost& cost : costs) all += cost.cycles;
  CHECK(all == 2 * (wave.end - wave.begin));
  const std::string listing = program.listing(costs, 2);
  CHECK(listing.find("// 2 traced wavefronts") == 0);
  CHECK(listing.find(".L0:\n") != std::string::npos);
  CHECK(listing.find("s_waitcnt vmcnt(0)") != std::string::npos);
  CHECK(listing.find("400  94.8 %") != std::string::npos);
}

TEST_CASE("issues of another unit, of another path or beyond the end do not follow the program") {
  const sqtt::Program program(kLoop);
  std::vector<Unit> other = kTwice;
  other[3] = Unit::Scalar;
  sqtt::Match match = program.follow(waveOf(other));
  CHECK_FALSE(match.complete);
  CHECK(match.lines.size() == 3);
  other = kTwice;
  other[4] = Unit::JumpNotTaken; // it leaves the loop where it went on
  CHECK_FALSE(program.follow(waveOf(other)).complete);
  other = kTwice;
  other.push_back(Unit::Vector);
  match = program.follow(waveOf(other));
  CHECK_FALSE(match.complete);
  CHECK(match.lines.size() == kTwice.size());
  CHECK_FALSE(program.follow(waveOf({kTwice.begin(), kTwice.end() - 1})).complete);
  CHECK_FALSE(program.follow(waveOf(kTwice, false)).complete);
  CHECK_FALSE(sqtt::Program("").follow(waveOf(kTwice)).complete);
  CHECK_FALSE(sqtt::Program("\ts_branch .L9\n")
                  .follow(waveOf({Unit::JumpTaken, Unit::Vector}))
                  .complete); // no such label
}

TEST_CASE("where no immediates are told, they are passed over, and the end of the program is a message") {
  const sqtt::Program program(
      "k:\n\ts_load_dwordx2 s[0:1], s[0:1], 0x10\n\ts_waitcnt lgkmcnt(0)\n\tv_mov_b32_e32 v0, s0\n"
      "\ts_nop 0\n\tglobal_store_dword v0, v0, s[0:1]\n\ts_endpgm\n",
      false);
  CHECK(
      program.follow(waveOf({Unit::ScalarMemory, Unit::Vector, Unit::VectorMemory, Unit::Message})).complete);
  CHECK(program.follow(waveOf({Unit::ScalarMemory, Unit::Vector, Unit::VectorMemory})).complete);
  CHECK_FALSE(program.follow(waveOf({Unit::ScalarMemory, Unit::Vector, Unit::Message})).complete);
}
