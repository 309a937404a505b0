// Prints recorded nodes from their fields alone, so that any graph of any trace can be shown.
//
//   expression(cursor, id)  ->  "((r0*4)+2)"
//   printTree(cursor, id)   ->  one node a line, indented; shared parts get names
#pragma once
#include "replay/read/cursor.h"

namespace uopscope {

/// One line. Parts deeper than maxDepth or beyond maxLength are shown as "...".
std::string expression(const NodeReader& read, NodeId id, int maxDepth = 12, size_t maxLength = 2000);
/// Operation, type and argument on one line, without sources: "ADD int [3]".
std::string nodeLabel(const NodeFields& node);
/// One node a line, users above sources; a repeated node is shown by its name only. After maxLines lines a
/// last line gives the number of nodes not shown.
std::string printTree(const NodeReader& read, NodeId id, size_t maxLines = SIZE_MAX);
/// A linear program: for each instruction its number, operation, type, numbers of the sources, and argument.
std::string programText(const NodeReader& read, const std::vector<NodeId>& program);

} // namespace uopscope
