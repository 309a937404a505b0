// The levels of names above the chunks of a value, walked upwards to store and downwards to load.
#include "engine/tensor/tinyfs.h"

#include "engine/runtime/mapped_file.h"

#include <fmt/format.h>

namespace uopscope::tinyfs {

namespace {

constexpr int64_t kChunk = int64_t{1} << 20, kName = 16; ///< bytes

int64_t chunksOf(int64_t bytes) {
  return (bytes + kChunk - 1) / kChunk;
}

/// The first `size` bytes, or all of them and zeros.
Tensor sized(const Tensor& bytes, int64_t size) {
  int64_t has = bytes.intNumel();
  return has < size ? bytes.pad({{0, size - has}}) : bytes.shrink({{{0, size}}});
}

} // namespace

Tensor load(const Tensor& name, int64_t size) {
  OperationScope op("fs_load");
  if (name.dtype() != dtypes::uint8 || name.intNumel() != kName)
    fail(ErrorKind::Shape, fmt::format("a name of tinyfs is {} bytes of uint8, not {} {}", kName,
                                       shapeStr(name.shape()), name.dtype().name()));
  if (size < 0) fail(ErrorKind::Value, fmt::format("size must be 0 or more, not {}", size));
  std::vector<int64_t> levels{
      std::max<int64_t>(1, chunksOf(size))}; // chunks of values, of names, of their names ...
  while (levels.back() > 1) levels.push_back(chunksOf(levels.back() * kName));
  Tensor bytes = name.contiguous().flatten();
  for (size_t k = levels.size(); k-- > 0;) {
    int64_t length = k > 0 ? levels[k - 1] * kName : levels[0] * kChunk;
    bytes = sized(bytes.to("TINYFS:LOAD"), length).contiguous();
    if (k > 0) bytes = bytes.to(name.device());
  }
  return bytes.shrink({{{0, size}}});
}

Tensor store(const Tensor& values) {
  OperationScope op("fs_store");
  std::string back = isFileDevice(values.device()) ? "CPU" : values.device();
  Tensor bytes = values.contiguous().flatten().bitcast(dtypes::uint8);
  for (;;) {
    int64_t chunks = std::max<int64_t>(1, chunksOf(bytes.intNumel()));
    bytes = sized(bytes, chunks * kChunk);
    bytes = sized(bytes.to("TINYFS:STORE"), chunks * kName).contiguous().to(back);
    if (chunks == 1) return bytes;
  }
}

} // namespace uopscope::tinyfs
