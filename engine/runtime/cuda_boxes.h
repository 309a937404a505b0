// The maps of matrices that CUDA's memory engine copies boxes from (async_boxes.h): what the driver is told at a launch.
//
//   cuda::TiledMap map = cuda::tiledMapOf(boxMap);         // sizes and distances as cuTensorMapEncodeTiled takes them
//   driver::LargeArgument a = cuda::encoded(boxMap, data); // a parameter of the kernel
#pragma once
#include "engine/render/cuda_architecture.h"
#include "engine/runtime/driver_program.h"

#include <array>

namespace uopscope::cuda {

/// A matrix: the first number of each pair is that of columns.
struct TiledMap {
  int type = 0;                        ///< CUtensorMapDataType
  std::array<uint64_t, 2> sizes{};     ///< elements
  std::array<uint64_t, 1> distances{}; ///< bytes from row to row
  std::array<uint32_t, 2> box{};       ///< elements
  std::array<uint32_t, 2> steps{1, 1}; ///< every element
};
/// Throws Error(Compile) for a type that has no map here.
TiledMap tiledMapOf(const BoxMap& map);
/// Throws Error(Runtime) with the driver's message: it refuses addresses that are no multiple of 16.
driver::LargeArgument encoded(const BoxMap& map, void* address);

} // namespace uopscope::cuda
