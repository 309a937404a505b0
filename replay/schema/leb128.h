// Encodes numbers in as few bytes as they need: seven bits a byte, lowest first; the high bit says that more
// bytes follow.
//
//   appendLeb128(bytes, 300);                       // ac 02
//   Leb128Reader in(bytes);  in.next(value);        // false at the end, or where the bytes are no number
//
// Several numbers make a group: each is doubled, plus 1 where more of the group follow. Signed numbers are
// numbered 0, -1, 1, -2, 2 ...
//
//   appendGroup(bytes, std::array{7, 0});           // 0f 00
//   nextGroup(in, group);                           // {7, 0}
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uopscope {

/// `bytes`: a vector of bytes, or a string.
template <typename Bytes>
void appendLeb128(Bytes& bytes, uint64_t value) {
  using Byte = Bytes::value_type;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<Byte>(value | 0x80));
  bytes.push_back(static_cast<Byte>(value));
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

inline void appendGroup(std::vector<uint8_t>& bytes, std::span<const uint64_t> group) {
  for (size_t k = 0; k < group.size(); ++k) appendLeb128(bytes, group[k] * 2 + (k + 1 < group.size()));
}

/// False at the end, or where the bytes are no group.
inline bool nextGroup(Leb128Reader& in, std::vector<uint64_t>& group) {
  group.clear();
  for (uint64_t value = 1; value & 1;) {
    if (!in.next(value)) return false;
    group.push_back(value >> 1);
  }
  return true;
}

inline uint64_t unsignedOf(int64_t number) {
  return number < 0 ? static_cast<uint64_t>(-(number + 1)) * 2 + 1 : static_cast<uint64_t>(number) * 2;
}
inline int64_t signedOf(uint64_t number) {
  const auto half = static_cast<int64_t>(number >> 1);
  return number & 1 ? -half - 1 : half;
}

} // namespace uopscope
