// The table is the format: AMD describes it in the sources of its trace decoder, and tinygrad's notes on SQTT name most fields.
// Lengths and prefixes were checked on traces of gfx1100, gfx1151 and gfx1200, whose every instruction is one of the kernel's
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

constexpr Form kRdna3[] = {
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
    {PacketKind::Time, 0b0100001, 7, 72, 8, 3},
    {PacketKind::Counter, 0b0110001, 7, 48, 7, 2},
    {PacketKind::Time, 0b1010001, 7, 24, 7, 9},
    {PacketKind::Event, 0b01100001, 8, 24, 8, 3},
    {PacketKind::Event, 0b11100001, 8, 32, 8, 3},
    {PacketKind::Counter, 0b1110001, 7, 64, 7, 3},
};
constexpr size_t kForms = std::size(kRdna3), kShortTime = 3;
constexpr int64_t kShortTimeFrom = 4; ///< a short time counts from here: fewer cycles need no packet

/// RDNA4 has other lengths and places for some, and all prefixes of RDNA3.
constexpr std::array<Form, kForms> kRdna4 = [] {
  constexpr Form kOther[] = {
      {PacketKind::Instruction, 0b010, 3, 20, 3, 3}, {PacketKind::WaveAllocated, 0b00101, 5, 24, 5, 3},
      {PacketKind::Time, 0b00110, 5, 56, 7, 3},      {PacketKind::Counter, 0b10110, 5, 32, 7, 3},
      {PacketKind::Time, 0b11100, 5, 40, 5, 2},      {PacketKind::Clock, 0b0000001, 7, 64, 12, 52},
  };
  std::array<Form, kForms> forms{};
  for (size_t k = 0; k < kForms; ++k) {
    forms[k] = kRdna3[k];
    for (const Form& f : kOther)
      if (f.prefix == forms[k].prefix && f.prefixBits == forms[k].prefixBits) forms[k] = f;
  }
  return forms;
}();

/// For each lowest byte its form; -1 where no packet begins so.
constexpr std::array<int8_t, 256> kFormOf = [] {
  std::array<int8_t, 256> forms{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    forms[byte] = -1;
    for (size_t k = 0; k < kForms; ++k)
      if ((byte & ((1u << kRdna3[k].prefixBits) - 1)) == kRdna3[k].prefix)
        forms[byte] = static_cast<int8_t>(k);
  }
  return forms;
}();

constexpr Layout kLayouts[] = {
    {3, {{10, 3}, {7, 1}, {8, 2}, {13, 5}}, {{11, 3}, {8, 1}, {9, 2}, {15, 5}}, {8, 5}, {13, 7}, 36},
    {4, {{10, 4}, {7, 1}, {8, 2}, {15, 5}}, {{11, 4}, {8, 1}, {9, 2}, {15, 5}}, {7, 5}, {12, 8}, 52},
};

/// Whether a packet of the kind Clock has the GPU's clock; the others are long times.
bool hasClock(const Packet& p, const Layout& layout) {
  return layout.number == 3 ? p.field(9, 1) != 0 : p.field(7, 1) != 0 && p.field(8, 1) == 0;
}
} // namespace

const Layout* layoutOf(uint64_t number) {
  for (const Layout& layout : kLayouts)
    if (static_cast<uint64_t>(layout.number) == number) return &layout;
  return nullptr;
}

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
        fmt::format("byte {} of a thread trace: no packet of RDNA begins with {:#04x}; other GPUs write "
                    "other packets",
                    at_ / 2, bits & 0xff));
  const Form& f = (layout_->number == 3 ? kRdna3 : kRdna4.data())[form];
  if (at_ + f.length / 4u > end) return {}; // cut off
  Packet packet{f.kind, 0, f.length < 64 ? bits & ((uint64_t{1} << f.length) - 1) : bits};
  auto cycles = static_cast<int64_t>(packet.field(f.timeAt, f.timeBits));
  if (form == kShortTime) cycles += kShortTimeFrom;
  if (packet.kind == PacketKind::Header)
    if (const Layout* named = layoutOf(packet.field(7, 6))) layout_ = named;
  if (packet.kind == PacketKind::Clock) {
    if (hasClock(packet, *layout_))
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
