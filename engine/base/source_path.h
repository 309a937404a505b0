// Paths of source files relative to the project: "engine/rules/arith.cpp", whatever folders __FILE__ names in
// front of it. Recorded traces and messages show them, so they do not depend on the place of the build.
#pragma once
#include <string_view>

namespace uopscope {

/// The part of a compiler's path from the project's top-level folder on; a path outside of it is unchanged.
constexpr std::string_view projectPath(std::string_view file) {
  for (std::string_view top : {"engine/", "replay/", "viz/", "app/", "tests/", "samples/"}) {
    size_t at = file.rfind(top);
    if (at != std::string_view::npos && (at == 0 || file[at - 1] == '/')) return file.substr(at);
  }
  return file;
}

} // namespace uopscope
