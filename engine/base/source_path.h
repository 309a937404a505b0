// Paths of our own sources as people know them: "engine/rules/arith.cpp", whatever __FILE__ says in front of
// it.
#pragma once
#include <string_view>

namespace uopscope {

/// The part of a compiler's path from the top-level folder on; any other path as it is.
constexpr std::string_view projectPath(std::string_view file) {
  for (std::string_view top : {"engine/", "replay/", "viz/", "app/", "tests/", "samples/"}) {
    size_t at = file.rfind(top);
    if (at != std::string_view::npos && (at == 0 || file[at - 1] == '/')) return file.substr(at);
  }
  return file;
}

} // namespace uopscope
