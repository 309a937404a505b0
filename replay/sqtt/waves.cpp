// A place (processor, SIMD, slot) holds one wavefront at a time, so the next end at a place is the end of the wavefront that
// began there last.
#include "replay/sqtt/waves.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace uopscope::sqtt {

namespace {
constexpr int kLayout = 3; ///< of RDNA3

/// The unit by the code of an instruction's packet. Codes from 0x50 on are accesses to memory by the other SIMD of the pair,
/// which is not traced: nothing.
std::optional<Unit> unitOf(uint64_t code) {
  if (code >= 0x50 && code <= 0x5f) return {};
  if (code >= 0x21 && code <= 0x28) return Unit::VectorMemory;
  if (code >= 0x29 && code <= 0x2f) return Unit::SharedMemory;
  switch (code) {
  case 0x00:
  case 0x72: return Unit::Scalar;
  case 0x01: return Unit::ScalarMemory;
  case 0x03: return Unit::JumpTaken;
  case 0x04: return Unit::JumpNotTaken;
  case 0x09: return Unit::Message;
  case 0x0b:
  case 0x0d:
  case 0x0e:
  case 0x73: return Unit::Vector; // transcendental, of 64 bits, comparisons that set the mask
  default: return Unit::Other;
  }
}

using Place = std::tuple<int, int, int>;

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
    for (auto& [place, index] : open_) trace_.waves[index].end = trace_.cycles;
    return std::move(trace_);
  }

private:
  void header(const Packet& p) {
    if (p.kind != PacketKind::Header)
      throw Error(ErrorKind::Value,
                  "the thread trace does not begin with a header, so it is not one of RDNA3");
    if (const auto layout = p.field(7, 6); layout != kLayout)
      throw Error(ErrorKind::Value,
                  fmt::format("the thread trace has layout {}; layout {} (RDNA3, gfx11) can be read", layout,
                              kLayout));
    trace_.tracedSimd = static_cast<int>(p.field(13, 2));
  }

  void take(const Packet& p) {
    switch (p.kind) {
    case PacketKind::WaveStart: begin(p); break;
    case PacketKind::WaveEnd: end(p); break;
    case PacketKind::Vector: issue(p.field(7, 5), p.cycle, Unit::Vector); break;
    case PacketKind::Immediate: issue(p.field(7, 5), p.cycle, Unit::Immediate); break;
    case PacketKind::Immediates:
      for (uint64_t slot = 0; slot < 16; ++slot)
        if (p.field(static_cast<int>(8 + slot), 1)) issue(slot, p.cycle, Unit::Immediate);
      break;
    case PacketKind::Instruction:
      if (auto unit = unitOf(p.field(13, 7))) issue(p.field(8, 5), p.cycle, *unit);
      break;
    case PacketKind::Clock: trace_.clock.add(p.cycle, p.field(12, Clock::kBits)); break;
    default: break;
    }
  }

  /// The highest bit of a processor's number stands apart.
  static int processorOf(const Packet& p, int low, int high) {
    return static_cast<int>(p.field(low, 3) | p.field(high, 1) << 3);
  }

  void begin(const Packet& p) {
    Wave wave;
    wave.processor = processorOf(p, 10, 7);
    wave.simd = static_cast<int>(p.field(8, 2));
    wave.slot = static_cast<int>(p.field(13, 5));
    wave.begin = wave.end = p.cycle;
    open_[{wave.processor, wave.simd, wave.slot}] = trace_.waves.size();
    trace_.waves.push_back(std::move(wave));
  }

  void end(const Packet& p) {
    const auto it = open_.find(
        {processorOf(p, 11, 8), static_cast<int>(p.field(9, 2)), static_cast<int>(p.field(15, 5))});
    if (it == open_.end()) return; // it began before the trace did
    trace_.waves[it->second].end = p.cycle;
    trace_.waves[it->second].ended = true;
    open_.erase(it);
  }

  void issue(uint64_t slot, int64_t cycle, Unit unit) {
    const auto it = open_.find({0, trace_.tracedSimd, static_cast<int>(slot)});
    if (it != open_.end()) trace_.waves[it->second].issues.push_back({cycle, unit});
  }

  PacketReader in_;
  ShaderTrace trace_;
  std::map<Place, size_t> open_; ///< wavefronts that run, by their place
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
  auto ns = static_cast<int64_t>(ticks) * kNsPerTick;
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
  return WaveReader(bytes).read();
}

} // namespace uopscope::sqtt
