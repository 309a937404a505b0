// Functions of a library that is opened at run time, so that one binary works with and without it.
//
//   const LibraryFunctions nvrtc{library, "NVRTC", "it is older than CUDA 11.2"};
//   nvrtc.take(api.version, "nvrtcVersion");       // throws: NVRTC lacks nvrtcVersion: it is older than CUDA 11.2
#pragma once
#include "engine/base/error.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace uopscope {

struct LibraryFunctions {
  void* library;
  std::string label;  ///< of the library, for messages
  std::string remedy; ///< why a function may be missing, and what to do
  /// Sets the function. Throws Error(Device) where the library has none of this name.
  template <typename F>
  void take(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(dlsym(library, name));
    if (!function) throw Error(ErrorKind::Device, fmt::format("{} lacks {}: {}", label, name, remedy));
  }
};

} // namespace uopscope
