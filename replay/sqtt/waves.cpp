// Reads packets of RDNA, and the times of cycles.
#include "replay/sqtt/waves.h"

#include "engine/base/error.h"
#include "replay/sqtt/wave_table.h"
#include "replay/sqtt/waves_cdna.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::sqtt {

namespace {
/// The unit by the code of an instruction's packet. Accesses to memory by the other SIMD of the pair, which is not traced, are
/// nothing.
std::optional<Unit> unitOf(uint64_t code, const Layout& layout) {
  const bool isRdna4 = layout.number == 4;
  auto isIn = [code](uint64_t first, uint64_t last) { return code >= first && code <= last; };
  if (isIn(0x50, isRdna4 ? 0x59 : 0x66) || (isRdna4 && (isIn(0xbc, 0xdd) || isIn(0x77, 0x78)))) return {};
  if (isIn(0x1c, 0x28)) return Unit::VectorMemory;
  if (isIn(0x29, 0x2e)) return Unit::SharedMemory;
  if (isRdna4) {
    if (isIn(0x2f, 0x36)) return Unit::VectorMemory;
    if (isIn(0x8c, 0x8f)) return Unit::Vector; // products of matrices
  }
  switch (code) {
  case 0x07: // with no lane
  case 0x98: // of floats
  case 0x9b:
  case 0x9c:
  case 0x00:
  case 0x72: return Unit::Scalar;
  case 0x02:
  case 0x01: return Unit::ScalarMemory;
  case 0x03: return Unit::JumpTaken;
  case 0x04: return Unit::JumpNotTaken;
  case 0x09: return Unit::Message;
  case 0x0a:
  case 0x0b:
  case 0x0c:
  case 0x0d:
  case 0x0e:
  case 0x0f:
  case 0x12:
  case 0x73:
  case 0x74:
  case 0x92:
  case 0x99: return Unit::Vector; // transcendental, of 64 bits, comparisons that set the mask
  default: return Unit::Other;
  }
}

class WaveReader {
public:
  explicit WaveReader(std::span<const uint8_t> bytes) : in_(bytes) {}

  ShaderTrace read() {
    while (auto packet = in_.next()) {
      if (++trace_.packets == 1 || packet->kind == PacketKind::Header) header(*packet);
      take(*packet);
      trace_.cycles = packet->cycle;
    }
    if (!trace_.packets) throw Error(ErrorKind::Value, "the thread trace is empty");
    trace_.waves = waves_.finished(trace_.cycles);
    return std::move(trace_);
  }

private:
  void header(const Packet& p) {
    if (p.kind != PacketKind::Header)
      throw Error(ErrorKind::Value,
                  "the thread trace does not begin with a header, so it is not one of RDNA3 or RDNA4");
    if (const auto number = p.field(7, 6); !layoutOf(number))
      throw Error(ErrorKind::Value,
                  fmt::format("the thread trace has layout {}; layouts 3 (RDNA3, gfx11) and 4 (RDNA4, gfx12) "
                              "can be read",
                              number));
    trace_.tracedSimd = static_cast<int>(p.field(13, 2));
  }

  void take(const Packet& p) {
    switch (p.kind) {
    case PacketKind::WaveStart: waves_.begin(placeOf(p, in_.layout().start), p.cycle); break;
    case PacketKind::WaveEnd: waves_.end(placeOf(p, in_.layout().end), p.cycle); break;
    case PacketKind::Vector: issue(p.field(7, 5), p.cycle, Unit::Vector); break;
    case PacketKind::Immediate: issue(p.field(7, 5), p.cycle, Unit::Immediate); break;
    case PacketKind::Immediates:
      for (uint64_t slot = 0; slot < 16; ++slot)
        if (p.field(static_cast<int>(8 + slot), 1)) issue(slot, p.cycle, Unit::Immediate);
      break;
    case PacketKind::Instruction:
      if (auto unit = unitOf(p.field(in_.layout().code), in_.layout()))
        issue(p.field(in_.layout().slotOfInstruction), p.cycle, *unit);
      break;
    case PacketKind::Clock: trace_.clock.add(p.cycle, p.field(12, in_.layout().clockBits)); break;
    default: break;
    }
  }

  static WaveTable::Place placeOf(const Packet& p, const Layout::Place& at) {
    return {static_cast<int>(p.field(at.processor) | p.field(at.highBit) << at.processor.count),
            static_cast<int>(p.field(at.simd)), static_cast<int>(p.field(at.slot))};
  }
  void issue(uint64_t slot, int64_t cycle, Unit unit) {
    waves_.issue({0, trace_.tracedSimd, static_cast<int>(slot)}, cycle, unit);
  }

  PacketReader in_;
  ShaderTrace trace_;
  WaveTable waves_;
};
} // namespace

std::string_view unitName(Unit unit) {
  static constexpr std::string_view names[] = {
      "vector",     "scalar",         "scalar memory", "vector memory", "shared memory",
      "jump taken", "jump not taken", "message",       "immediate",     "other"};
  return names[static_cast<size_t>(unit)];
}

void Clock::add(int64_t cycle, uint64_t ticks) {
  constexpr int64_t kRange = int64_t{1} << kBits;
  auto ns = static_cast<int64_t>(ticks % kRange) * kNsPerTick;
  if (!marks_.empty()) {
    if (marks_.back().ns - ns > kRange / 2 * kNsPerTick) ns += kRange * kNsPerTick; // it began again
    if (cycle <= marks_.back().cycle || ns <= marks_.back().ns) return;
  }
  marks_.push_back({cycle, ns});
}

std::optional<double> Clock::nsOf(int64_t cycle) const {
  if (marks_.size() < 2) return {};
  auto after = std::ranges::upper_bound(marks_, cycle, {}, &Mark::cycle);
  after = std::clamp(after, marks_.begin() + 1, marks_.end() - 1);
  const Mark &b = *after, &a = *(after - 1);
  const double slope = static_cast<double>(b.ns - a.ns) / static_cast<double>(b.cycle - a.cycle);
  return static_cast<double>(a.ns) + static_cast<double>(cycle - a.cycle) * slope;
}

ShaderTrace readShaderTrace(std::span<const uint8_t> bytes) {
  if (isCdnaTrace(bytes)) return readCdnaTrace(bytes);
  return WaveReader(bytes).read();
}

} // namespace uopscope::sqtt
