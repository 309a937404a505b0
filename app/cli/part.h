// A share of work that several machines do: "2/4" is the second of four.
//
//   const Part part = partOf("2/4");
//   for (size_t i = 0; i < n; ++i) if (part.has(i)) doIt(i);      // 1, 5, 9 ...
#pragma once
#include <cstddef>
#include <string>

namespace uopscope::cli {

struct Part {
  size_t index = 0, count = 1; ///< index: from 0
  bool has(size_t item) const { return item % count == index; }
};

/// Reads the argument of --part; an empty one is the whole. Throws Error(Value) unless 1 <= I <= N.
Part partOf(const std::string& text);

} // namespace uopscope::cli
