// Where a node of the tensor graph comes from: the tensor operation that made it and the line of the model
// script that asked for it. Kept beside the nodes, not in them, so that equal nodes stay equal; the first
// maker is kept.
//
//   setOrigin(y, {"relu", "model.py", 12});
//   if (const NodeOrigin* o = originOf(y)) print(o->operation, o->file, o->line);
//
// A table belongs to one pool and is used by the thread that uses the pool. Ids are not reused, so an entry
// of a node that Pool::collect freed is merely unused; dropOrigins(pool, keep) removes such entries.
#pragma once
#include "engine/uop/uop.h"

#include <functional>
#include <string>
#include <string_view>

namespace uopscope {

struct NodeOrigin {
  std::string_view operation; ///< "conv2d"; kept for the life of the process
  std::string_view file;      ///< as Python names it
  int line = 0;
};

/// Remembers the origin of a node unless it has one. Strings are copied once per distinct text.
void setOrigin(UOp node, std::string_view operation, std::string_view file, int line);
/// Of a node of any pool; null if unknown.
const NodeOrigin* originOf(UOp node);
/// Forgets everything about a pool, or all nodes of it for whose id `keep` is false.
void dropOrigins(const Pool& pool, const std::function<bool(uint32_t id)>& keep = {});

} // namespace uopscope
