// Encodes numbers in as few bytes as they need: seven bits a byte, lowest first; the high bit says that more
// bytes follow.
//
//   appendLeb128(bytes, 300);                       // ac 02
//   Leb128Reader in(bytes);  in.next(value);        // false at the end, or where the bytes are no number
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uopscope {

inline void appendLeb128(std::vector<uint8_t>& bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
  bytes.push_back(static_cast<uint8_t>(value));
}

class Leb128Reader {
public:
  explicit Leb128Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool next(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      uint8_t byte = bytes_[at_++];
      value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return true;
    }
    return false;
  }
  bool atEnd() const { return at_ == bytes_.size(); }
  size_t left() const { return bytes_.size() - at_; }

private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

} // namespace uopscope
