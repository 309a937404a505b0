// The lengths and fields are those of tinygrad's notes on SQTT; they were checked on traces of a gfx950, whose every instruction
// is one of the kernel's (instruction_match.h).
#include "replay/sqtt/waves_cdna.h"

#include "engine/base/error.h"
#include "replay/sqtt/wave_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace uopscope::sqtt {

namespace {

constexpr std::array<uint8_t, 16> kBytes{2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6};
enum Kind : uint8_t { kWait = 0, kTimestamp = 1, kWaveStart = 3, kWaveEnd = 6, kInstruction = 10 };
constexpr int64_t kCyclesOfWait = 4;

Unit unitOf(uint64_t code) {
  switch (code) {
  case 0:
  case 16: return Unit::ScalarMemory;
  case 1:
  case 17: return Unit::Scalar;
  case 2:
  case 3:
  case 4:
  case 14: return Unit::VectorMemory;
  case 5:
  case 18:
  case 28: return Unit::Vector; // of 32 bits, of 64, of matrices
  case 6: return Unit::SharedMemory;
  case 12: return Unit::JumpTaken;
  case 13: return Unit::JumpNotTaken;
  case 15: return Unit::Message;
  default: return Unit::Other;
  }
}

class CdnaReader {
public:
  ShaderTrace read(std::span<const uint8_t> bytes) {
    trace_.tellsImmediates = false;
    for (size_t at = 0; at + 2 <= bytes.size();) {
      const size_t length = kBytes[bytes[at] & 0xf];
      if (at + length > bytes.size()) break; // cut off
      Packet packet;
      std::memcpy(&packet.bits, bytes.data() + at, length);
      take(packet);
      at += length;
      ++trace_.packets;
    }
    if (!trace_.packets) throw Error(ErrorKind::Value, "the thread trace is empty");
    trace_.cycles = cycle_;
    trace_.waves = waves_.finished(cycle_);
    return std::move(trace_);
  }

private:
  void take(const Packet& p) {
    switch (p.field(0, 4)) {
    case kWait: cycle_ += kCyclesOfWait * static_cast<int64_t>(p.field(4, 8)); break;
    case kTimestamp: timestamp(p); break;
    case kWaveStart: waves_.begin(placeOf(p), cycle_); break;
    case kWaveEnd: waves_.end(placeOf(p), cycle_); break;
    case kInstruction:
      waves_.issue({0, static_cast<int>(p.field(9, 2)), static_cast<int>(p.field(5, 4))}, cycle_,
                   unitOf(p.field(11, 5)));
      break;
    default: break;
    }
  }
  /// An absolute count of cycles takes the place of the waits up to it. Time never goes back.
  void timestamp(const Packet& p) {
    if (p.field(4, 12)) return;
    const auto count = static_cast<int64_t>(p.field(16, 48));
    if (!start_)
      start_ = count - cycle_;
    else
      cycle_ = std::max(cycle_, ((count - *start_) & ~(kCyclesOfWait - 1)) - kCyclesOfWait);
  }
  static WaveTable::Place placeOf(const Packet& p) {
    return {static_cast<int>(p.field(6, 4) | p.field(5, 1) << 4), static_cast<int>(p.field(14, 2)),
            static_cast<int>(p.field(10, 4))};
  }

  ShaderTrace trace_;
  WaveTable waves_;
  int64_t cycle_ = 0;
  std::optional<int64_t> start_; ///< the count of cycle 0
};

} // namespace

bool isCdnaTrace(std::span<const uint8_t> bytes) {
  if (bytes.size() < 2 || (bytes[0] & 0xf) != kTimestamp) return false;
  const unsigned first = bytes[0] | bytes[1] << 8;
  constexpr unsigned kHeader = 0x11;
  return (first & 0x7f) != kHeader || (first >> 7 & 0x3f) == 0;
}

ShaderTrace readCdnaTrace(std::span<const uint8_t> bytes) {
  return CdnaReader().read(bytes);
}

} // namespace uopscope::sqtt
