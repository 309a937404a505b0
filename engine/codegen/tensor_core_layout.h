// Reads the layouts of a tensor core (target.h): the element of a tile that each thread of a warp holds. The optimizer needs
// them as expressions (tensor_cores.cpp), the interpreter as numbers.
//
//   rowsOf(core)                        // 16
//   coordinateIn("l2l3e0", 12, 1)       // 3 + 4: bits 2 and 3 of thread 12, then bit 0 of element 1
#pragma once
#include "engine/codegen/target.h"

#include <algorithm>
#include <string_view>

namespace uopscope {

inline int64_t extentOfLayout(std::string_view layout) {
  return int64_t{1} << (layout.size() / 2);
}
inline int64_t rowsOf(const TensorCore& core) {
  return extentOfLayout(core.c.row);
}
inline int64_t columnsOf(const TensorCore& core) {
  return extentOfLayout(core.c.column);
}
inline int64_t termsOf(const TensorCore& core) {
  return extentOfLayout(core.a.column);
}
/// log2 of the number of elements that a thread holds; 0 for an operand in shared memory.
inline size_t elementBits(const TensorCore::Layout& layout) {
  auto count = [](std::string_view text) { return std::count(text.begin(), text.end(), 'e'); };
  return static_cast<size_t>(count(layout.row) + count(layout.column));
}
/// The coordinate of an element of a thread.
inline int64_t coordinateIn(std::string_view layout, int64_t thread, int64_t element) {
  int64_t sum = 0;
  for (size_t i = 0; i < layout.size(); i += 2)
    sum |= ((layout[i] == 'e' ? element : thread) >> (layout[i + 1] - '0') & 1) << (i / 2);
  return sum;
}

} // namespace uopscope
