// The table is the format: AMD describes it in the sources of its trace decoder, and tinygrad's notes on SQTT name most fields.
// Lengths and prefixes were checked on traces of an RDNA3.5 (gfx1151), whose every instruction is one of the kernel's
// (instruction_match.h).
#include "replay/sqtt/packets.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace uopscope::sqtt {

namespace {
struct Form {
  PacketKind kind;
  uint8_t prefix, prefixBits;
  uint8_t length;           ///< in bits
  uint8_t timeAt, timeBits; ///< the cycles since the packet before
};

constexpr Form kForms[] = {
    {PacketKind::Instruction, 0b010, 3, 20, 4, 3},
    {PacketKind::Vector, 0b011, 3, 12, 3, 3},
    {PacketKind::Time, 0b0000, 4, 4, 0, 0},
    {PacketKind::Time, 0b1000, 4, 8, 4, 4}, // kShortTime
    {PacketKind::Register, 0b1001, 4, 64, 4, 3},
    {PacketKind::Immediate, 0b1101, 4, 12, 4, 3},
    {PacketKind::UnitBusy, 0b1110, 4, 8, 4, 2},
    {PacketKind::MemoryBusy, 0b1111, 4, 8, 4, 2},
    {PacketKind::Immediates, 0b00100, 5, 24, 5, 3},
    {PacketKind::WavesReady, 0b10100, 5, 24, 5, 3},
    {PacketKind::WaveAllocated, 0b00101, 5, 20, 5, 3},
    {PacketKind::WaveEnd, 0b10101, 5, 20, 5, 3},
    {PacketKind::Time, 0b00110, 5, 52, 5, 3},
    {PacketKind::Counter, 0b10110, 5, 28, 5, 3},
    {PacketKind::WaveStart, 0b01100, 5, 32, 5, 2},
    {PacketKind::Time, 0b11100, 5, 48, 5, 2},
    {PacketKind::Clock, 0b0000001, 7, 48, 12, 36}, // or a long time
    {PacketKind::Header, 0b0010001, 7, 64, 0, 0},
    {PacketKind::Time, 0b0100001, 7, 64, 8, 3},
    {PacketKind::Counter, 0b0110001, 7, 48, 7, 2},
    {PacketKind::Time, 0b1010001, 7, 24, 7, 9},
    {PacketKind::Event, 0b01100001, 8, 24, 8, 3},
    {PacketKind::Event, 0b11100001, 8, 32, 8, 3},
    {PacketKind::Counter, 0b1110001, 7, 64, 7, 3},
};
constexpr const Form& kShortTime = kForms[3];
constexpr int64_t kShortTimeFrom = 8; ///< a short time counts from here: fewer cycles need no packet

/// For each lowest byte its form; -1 where no packet begins so.
constexpr std::array<int8_t, 256> kFormOf = [] {
  std::array<int8_t, 256> forms{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    forms[byte] = -1;
    for (size_t k = 0; k < std::size(kForms); ++k)
      if ((byte & ((1u << kForms[k].prefixBits) - 1)) == kForms[k].prefix)
        forms[byte] = static_cast<int8_t>(k);
  }
  return forms;
}();
} // namespace

/// The next 64 bits; zeros beyond the end.
uint64_t PacketReader::window() const {
  const size_t byte = at_ / 2;
  std::array<uint8_t, 9> bytes{};
  std::memcpy(bytes.data(), bytes_.data() + byte, std::min<size_t>(bytes.size(), bytes_.size() - byte));
  uint64_t low = 0;
  std::memcpy(&low, bytes.data(), sizeof low);
  return at_ % 2 ? low >> 4 | static_cast<uint64_t>(bytes[8]) << 60 : low;
}

std::optional<Packet> PacketReader::next() {
  const uint64_t end = bytes_.size() * 2;
  if (at_ >= end) return {};
  const uint64_t bits = window();
  const int form = kFormOf[bits & 0xff];
  if (form < 0)
    throw Error(
        ErrorKind::Value,
        fmt::format("byte {} of a thread trace: no packet of RDNA3 begins with {:#04x}; other GPUs write "
                    "other packets",
                    at_ / 2, bits & 0xff));
  const Form& f = kForms[form];
  if (at_ + f.length / 4u > end) return {}; // cut off
  Packet packet{f.kind, 0, f.length < 64 ? bits & ((uint64_t{1} << f.length) - 1) : bits};
  auto cycles = static_cast<int64_t>(packet.field(f.timeAt, f.timeBits));
  if (&f == &kShortTime) cycles += kShortTimeFrom;
  if (packet.kind == PacketKind::Clock) {
    const bool isClock = packet.field(9, 1);
    if (isClock)
      cycles = 0;
    else
      packet.kind = PacketKind::Time;
  }
  cycle_ += cycles;
  packet.cycle = cycle_;
  at_ += f.length / 4u;
  return packet;
}

} // namespace uopscope::sqtt
