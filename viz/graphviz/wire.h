// What the program uopscope-graphviz answers, as bytes: numbers of four bytes and texts with their length.
//
//   std::string out;  put(out, 3u);  put(out, "abc");
//   WireReader in(out);  in.number() == 3;  in.text() == "abc";        // Error(Runtime) where bytes are missing
#pragma once
#include "engine/base/error.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace uopscope::graphviz {

/// How the program ends where the fault lies in the graph; stderr has the sentence.
constexpr int kBadInput = 3;

template <typename Number>
void put(std::string& out, Number value)
  requires(sizeof(Number) == 4)
{
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out.append(bytes, 4);
}
inline void put(std::string& out, std::string_view text) {
  put(out, static_cast<uint32_t>(text.size()));
  out += text;
}

class WireReader {
public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}
  uint32_t number() { return take<uint32_t>(); }
  float real() { return take<float>(); }
  std::string text() { return std::string(bytes(number())); }
  /// A number of things that follow, each of at least `size` bytes.
  uint32_t count(size_t size) {
    const uint32_t n = number();
    if (n > left_.size() / size) cut();
    return n;
  }

private:
  [[noreturn]] static void cut() {
    throw Error(ErrorKind::Runtime, "the answer of uopscope-graphviz is cut off");
  }
  std::string_view bytes(size_t size) {
    if (size > left_.size()) cut();
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }
  template <typename Number>
  Number take() {
    Number out;
    const std::string_view from = bytes(sizeof out);
    std::memcpy(&out, from.data(), from.size());
    return out;
  }
  std::string_view left_;
};

} // namespace uopscope::graphviz
