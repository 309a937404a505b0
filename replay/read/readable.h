// Texts of graphs for readers, where print.h is for whoever reads them again: many lanes are told by their runs
// (VECTORIZE(0 ×32, 1 ×32)), and trees come without the numbers of nodes, which differ between two traces of
// the same.
//
//   readableExpression(read, id)                        // as expression()
//   printPlainTree(before, root) == printPlainTree(after, root)
#pragma once
#include "replay/read/print.h"

namespace uopscope {

std::string readableExpression(const NodeReader& read, NodeId id, int maxDepth = 12, size_t maxLength = 2000);
/// The same of a node that no trace has.
std::string readableExpression(UOp node, int maxDepth, size_t maxLength);
std::string printPlainTree(const NodeReader& read, NodeId id, size_t maxLines = SIZE_MAX);

} // namespace uopscope
