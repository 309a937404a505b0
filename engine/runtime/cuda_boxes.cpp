// Asks the driver for maps.
#include "engine/runtime/cuda_boxes.h"

#include "engine/base/error.h"
#include "engine/runtime/cuda_api.h"

#include <fmt/format.h>

namespace uopscope::cuda {

namespace {

// Of CUtensorMapDataType.
constexpr int kFloat16 = 6, kBFloat16 = 9;

} // namespace

TiledMap tiledMapOf(const BoxMap& map) {
  TiledMap t;
  if (map.element != dtypes::float16 && map.element != dtypes::bfloat16)
    throw Error(ErrorKind::Compile, fmt::format("boxes of {} are not copied", map.element.name()));
  t.type = map.element == dtypes::float16 ? kFloat16 : kBFloat16;
  t.sizes = {static_cast<uint64_t>(map.pitch), static_cast<uint64_t>(map.rows)};
  t.distances = {static_cast<uint64_t>(map.pitch * map.element.itemsize())};
  t.box = {static_cast<uint32_t>(map.columns), static_cast<uint32_t>(map.lines)};
  return t;
}

driver::LargeArgument encoded(const BoxMap& map, void* address) {
  const TiledMap t = tiledMapOf(map);
  driver::LargeArgument argument;
  encodeTensorMap(argument.bytes.data(), t.type, t.sizes, t.distances, t.box, t.steps, address);
  return argument;
}

} // namespace uopscope::cuda
