// The message of an error that a test expects, of the kind that it expects.
//
//   std::string message = errorOf([&] { Device::get("TOASTER"); }, ErrorKind::Device);
#pragma once
#include "engine/base/error.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>

namespace uopscope::test {

inline std::string errorOf(const std::function<void()>& f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.kind() == kind);
    return e.what();
  }
  FAIL("nothing was thrown");
  return {};
}

} // namespace uopscope::test
