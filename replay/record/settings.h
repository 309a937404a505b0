// The context variables that decide what a compilation makes (NOOPT, BEAM, ...), as JSON: part of the input
// of the compiler that no graph holds. Those about output, recording and caches are left out.
//
//   Settings settings;
//   settings.json();   // {"NOOPT":0,...}; costs a hash of the values where none changed
#pragma once
#include <cstdint>
#include <string>

namespace uopscope {

class Settings {
public:
  const std::string& json();

private:
  uint64_t values_ = 0;
  std::string json_;
};

} // namespace uopscope
