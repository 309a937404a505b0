// What the libFuzzer targets share: how a finding ends the process, and choices drawn from the bytes of an input.
//
//   fuzz::Choices choose(data, size);   if (choose.below(3) == 0) ...
//   fuzz::finding("values differ", graph.str());
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace uopscope::fuzz {

/// Says what was found and ends the process, which makes libFuzzer keep the input.
[[noreturn]] inline void finding(const std::string& what, const std::string& text) {
  std::fprintf(stderr, "finding: %s\n%s\n", what.c_str(), text.c_str());
  std::abort();
}

/// Numbers from bytes; zeros when no byte is left.
class Choices {
public:
  Choices(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  uint8_t byte() {
    if (!left_) return 0;
    --left_;
    return *data_++;
  }
  /// A number from 0 to n - 1; n is 1 to 256.
  unsigned below(unsigned n) { return byte() % n; }

private:
  const uint8_t* data_;
  size_t left_;
};

} // namespace uopscope::fuzz
