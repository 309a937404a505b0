// Text of recorded nodes, from their fields alone, so that any graph of any trace can be shown.
//
//   expression(cursor, id)  ->  "((r0*4)+2)"     printTree(cursor, id)  ->  one node a line, indented, shared
//   parts named
#pragma once
#include "replay/read/cursor.h"

namespace uopscope {

/// One line; what is deeper than maxDepth or longer than maxLength is shown as "..." .
std::string expression(const NodeReader& read, NodeId id, int maxDepth = 12, size_t maxLength = 2000);
/// "ADD int [3]" : operation, type and argument on one line, without sources.
std::string nodeLabel(const NodeFields& node);
/// One node a line, users above sources; a node met again is shown by its name only. At most maxLines lines,
/// then a line that says how many nodes are not shown.
std::string printTree(const NodeReader& read, NodeId id, size_t maxLines = SIZE_MAX);
/// A linear program: number, operation, type, numbers of the sources and argument of each instruction.
std::string programText(const NodeReader& read, const std::vector<NodeId>& program);

} // namespace uopscope
