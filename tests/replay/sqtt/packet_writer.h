// Writes thread traces for tests, packet by packet, from the widths of their fields.
//
//   PacketWriter out;
//   out.header(0).start(0, 0, 3).vector(3, 2).end(0, 0, 3);
//   ShaderTrace trace = readShaderTrace(out.bytes());
#pragma once
#include <cstdint>
#include <vector>

namespace uopscope::test {

class PacketWriter {
public:
  /// A packet of `length` bits.
  PacketWriter& put(uint64_t bits, int length) {
    for (int k = 0; k < length; k += 4) half(bits >> k & 0xf);
    return *this;
  }
  PacketWriter& header(uint64_t simd, uint64_t layout = 3) {
    return put(0x11 | layout << 7 | simd << 13, 64);
  }
  /// Cycles that go by.
  PacketWriter& wait(uint64_t cycles) { return put(0x01 | cycles << 12, 48); }
  PacketWriter& clock(uint64_t ticks) { return put(0x01 | 1 << 9 | ticks << 12, 48); }
  PacketWriter& start(uint64_t processor, uint64_t simd, uint64_t slot) {
    return put(0x0c | processor >> 3 << 7 | simd << 8 | (processor & 7) << 10 | slot << 13, 32);
  }
  PacketWriter& end(uint64_t processor, uint64_t simd, uint64_t slot) {
    return put(0x15 | processor >> 3 << 8 | simd << 9 | (processor & 7) << 11 | slot << 15, 20);
  }
  PacketWriter& vector(uint64_t slot, uint64_t cycles) { return put(0x03 | cycles << 3 | slot << 7, 12); }
  PacketWriter& immediate(uint64_t slot, uint64_t cycles) { return put(0x0d | cycles << 4 | slot << 7, 12); }
  PacketWriter& immediates(uint64_t slots, uint64_t cycles) {
    return put(0x04 | cycles << 5 | slots << 8, 24);
  }
  PacketWriter& issue(uint64_t slot, uint64_t code, uint64_t cycles) {
    return put(0x02 | cycles << 4 | slot << 8 | code << 13, 20);
  }
  // The packets of RDNA4 that differ.
  PacketWriter& wait4(uint64_t cycles) { return put(0x01 | cycles << 12, 64); }
  PacketWriter& clock4(uint64_t ticks) { return put(0x01 | 1 << 7 | ticks << 12, 64); }
  PacketWriter& start4(uint64_t processor, uint64_t simd, uint64_t slot) {
    return put(0x0c | processor >> 4 << 7 | simd << 8 | (processor & 15) << 10 | slot << 15, 32);
  }
  PacketWriter& end4(uint64_t processor, uint64_t simd, uint64_t slot) {
    return put(0x15 | processor >> 4 << 8 | simd << 9 | (processor & 15) << 11 | slot << 15, 20);
  }
  PacketWriter& issue4(uint64_t slot, uint64_t code, uint64_t cycles) {
    return put(0x02 | cycles << 3 | slot << 7 | code << 12, 20);
  }
  // The packets of CDNA.
  PacketWriter& timestamp(uint64_t count, uint64_t what = 0) { return put(1 | what << 4 | count << 16, 64); }
  PacketWriter& waitCdna(uint64_t fours) { return put(fours << 4, 16); }
  PacketWriter& startCdna(uint64_t unit, uint64_t simd, uint64_t slot) {
    return put(3 | unit << 6 | slot << 10 | simd << 14, 32);
  }
  PacketWriter& endCdna(uint64_t unit, uint64_t simd, uint64_t slot) {
    return put(6 | unit << 6 | slot << 10 | simd << 14, 16);
  }
  PacketWriter& issueCdna(uint64_t simd, uint64_t slot, uint64_t code) {
    return put(10 | slot << 5 | simd << 9 | code << 11, 16);
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

private:
  void half(uint64_t bits) {
    if (odd_)
      bytes_.back() |= static_cast<uint8_t>(bits << 4);
    else
      bytes_.push_back(static_cast<uint8_t>(bits));
    odd_ = !odd_;
  }
  std::vector<uint8_t> bytes_;
  bool odd_ = false;
};

} // namespace uopscope::test
