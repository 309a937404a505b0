// Compares a text that a renderer wrote with the one kept in tests/golden/render.
//
//   checkGolden("matmul.c", renderer.render(kernel));      // UPDATE_GOLDEN=1 writes the file anew
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace uopscope::test {

inline void checkGolden(const std::string& name, const std::string& text) {
  std::string path = std::string(UOPSCOPE_SOURCE_DIR) + "/tests/golden/render/" + name;
  if (std::getenv("UPDATE_GOLDEN")) std::ofstream(path) << text;
  std::stringstream wanted;
  wanted << std::ifstream(path).rdbuf();
  CHECK_MESSAGE(text == wanted.str(), path, ":\n", text);
}

} // namespace uopscope::test
