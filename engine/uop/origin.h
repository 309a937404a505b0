// The origin of a node of the tensor graph: the tensor operation that made it and the line of the model
// script that asked for it. Origins are stored beside the nodes and not in them, so that equal nodes stay
// equal. The first maker of a node is recorded.
//
//   setOrigin(y, {"relu", "model.py", 12, "model/head"});
//   if (const NodeOrigin* o = originOf(y)) print(o->operation, o->file, o->line);
//
// A table belongs to one pool and is used by the thread that uses the pool. Ids are not reused, so the entry
// of a node that Pool::collect freed is never read again; dropOrigins(pool, keep) removes such entries.
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
  std::string_view calls; ///< the calls around it: "model/blocks.3/narrow"; empty where nobody recorded
};

/// Records the origin of a node unless it has one. Each distinct string is copied once.
void setOrigin(UOp node, const NodeOrigin& origin);
/// The origin of a node of any pool; null if it is unknown.
const NodeOrigin* originOf(UOp node);
/// Drops all origins of a pool; with `keep`, only those of nodes for whose id it returns false.
void dropOrigins(const Pool& pool, const std::function<bool(uint32_t id)>& keep = {});

} // namespace uopscope
