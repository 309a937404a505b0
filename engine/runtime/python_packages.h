// The folders that hold Python's packages, in which libraries of drivers and compilers may be: those of
// PYTHONPATH, of the active virtual environment, of the user and of the system.
//
//   for (const auto& folder : pythonPackageFolders()) dlopen(folder / "wgpu/resources/...")
#pragma once
#include <filesystem>
#include <vector>

namespace uopscope {

/// Existing folders alone, in the order in which Python would search them.
std::vector<std::filesystem::path> pythonPackageFolders();

} // namespace uopscope
