// Files as memory of buffers: a tensor on "DISK:/path" reads the file where the system maps it, so nothing is
// read before it is used and nothing is held twice.
//
//   std::shared_ptr<Buffer> b = mapFile("/data/model.safetensors");    // uint8, as long as the file
//   std::shared_ptr<Buffer> out = createFile("/tmp/out.bin", 64);      // writes go to the file
//
// A file that another program shortens while it is mapped takes the pages away: as with every mapping, the
// process ends when it reads them.
#pragma once
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"

#include <memory>
#include <string>
#include <string_view>

namespace uopscope {

/// Whether a canonical device name stands for a file.
inline bool isFileDevice(std::string_view device) {
  return device.starts_with("DISK:");
}
/// The path in the name of such a device.
inline std::string filePath(std::string_view device) {
  return std::string(device.substr(5));
}

/// The bytes of a file; writing into them changes this process's view alone. Throws Error(File) where it
/// cannot be read or is no regular file.
std::shared_ptr<Buffer> mapFile(const std::string& path);
/// Makes a file, or takes one that is there, at least so many bytes long; writes go to it.
std::shared_ptr<Buffer> createFile(const std::string& path, int64_t bytes);

} // namespace uopscope
