// Files as memory of buffers. A tensor on "DISK:/path" uses the pages that the system maps, so nothing is
// read before it is used, and nothing is stored twice.
//
//   std::shared_ptr<Buffer> b = mapFile("/data/model.safetensors");    // uint8, as long as the file
//   std::shared_ptr<Buffer> out = createFile("/tmp/out.bin", 64);      // writes go to the file
//
// If a different program shortens a mapped file, its pages disappear. As with every mapping, the process ends
// when it reads them.
#pragma once
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"

#include <memory>
#include <string>
#include <string_view>

namespace uopscope {

/// Whether a canonical device name means a file.
inline bool isFileDevice(std::string_view device) {
  return device.starts_with("DISK:");
}
/// The path in the name of such a device.
inline std::string filePath(std::string_view device) {
  return std::string(device.substr(5));
}

/// The bytes of a file. Writing to them does not change the file. Throws Error(File) if it cannot be read or
/// is no regular file.
std::shared_ptr<Buffer> mapFile(const std::string& path);
/// Opens or creates a file of at least this size. Writing to the buffer changes the file.
std::shared_ptr<Buffer> createFile(const std::string& path, int64_t bytes);

} // namespace uopscope
