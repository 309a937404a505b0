// Maps files, and defines the device for them, which holds and copies bytes and runs nothing.
#include "engine/runtime/mapped_file.h"

#include "engine/base/error.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/host_memory_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace uopscope {

namespace {

[[noreturn]] void failFile(const std::string& path, const char* what) {
  throw Error(ErrorKind::File, fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

struct Mapping {
  void* memory;
  size_t bytes;
  ~Mapping() { munmap(memory, bytes); }
};

std::shared_ptr<Buffer> mapDescriptor(const std::string& path, int number, size_t bytes, bool shared) {
  std::string device = "DISK:" + path;
  if (bytes == 0) return std::make_shared<Buffer>(device, dtypes::uint8, 0);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, number, 0);
  if (memory == MAP_FAILED) failFile(path, "cannot be mapped");
  return Buffer::foreign(device, dtypes::uint8, static_cast<int64_t>(bytes), memory,
                         std::make_shared<Mapping>(memory, bytes));
}

class FileDevice : public HostMemoryDevice {
public:
  explicit FileDevice(std::string name) : HostMemoryDevice(std::move(name)) {}
  const Renderer& renderer() const override { refuse(); }
  std::shared_ptr<Program> compile(const LoweredKernel&, const std::string&) override { refuse(); }

private:
  [[noreturn]] void refuse() const {
    throw Error(
        ErrorKind::Unsupported,
        "DISK holds files and computes nothing: move the tensor to a device first, as in .to(\"CPU\")");
  }
};

} // namespace

std::shared_ptr<Buffer> mapFile(const std::string& path) {
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) failFile(path, "cannot be opened");
  struct stat about{};
  if (fstat(file.number, &about) != 0) failFile(path, "cannot be examined");
  if (!S_ISREG(about.st_mode))
    throw Error(ErrorKind::File, fmt::format("{}: not a regular file, and only such can be mapped", path));
  return mapDescriptor(path, file.number, static_cast<size_t>(about.st_size), false);
}

std::shared_ptr<Buffer> createFile(const std::string& path, int64_t bytes) {
  Descriptor file{open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
  if (file.number < 0) failFile(path, "cannot be made");
  struct stat about{};
  if (fstat(file.number, &about) != 0) failFile(path, "cannot be examined");
  if (!S_ISREG(about.st_mode))
    throw Error(ErrorKind::File, fmt::format("{}: not a regular file, and only such can be mapped", path));
  if (about.st_size < bytes && ftruncate(file.number, bytes) != 0) failFile(path, "cannot be made longer");
  return mapDescriptor(path, file.number, static_cast<size_t>(bytes), true);
}

std::shared_ptr<Device> makeFileDevice(const std::string& name) {
  return std::make_shared<FileDevice>(name);
}

} // namespace uopscope
