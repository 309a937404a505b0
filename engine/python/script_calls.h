// The calls of the script around the present one, in words: modules by the names of their attributes, functions
// by their own. They place a tensor operation in the structure of the model.
//
//   model.blocks[3].narrow(x)  ->  "model/blocks.3/narrow"
//
// Invariant: the script cannot notice a look at its frames; no variable lives longer because of it.
#pragma once
#include <string_view>

namespace uopscope {

/// Outermost call first, joined by '/'; empty at the level of the script itself. The text lives as long as the
/// process.
std::string_view pythonCalls();

} // namespace uopscope
