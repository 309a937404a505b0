// The context variables that decide the result of a compilation (NOOPT, BEAM, ...), as JSON: the part of the
// compiler's input that no graph holds. Settings about output, recording and caches are left out.
//
//   Settings settings;
//   settings.json();   // {"NOOPT":0,...}; where no value changed, this only costs a hash of the values
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
