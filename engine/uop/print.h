// Nodes as text, and text back to nodes.
//
//   u.render()      r0*4+r1            an expression of index or scalar arithmetic
//   u.str()         the tree of UOp(Ops.ADD, ...) lines, repeated parts named x0:=
//   pyrender(u)     c0 = UOp.range(4, 0, AxisType.LOOP) ... ast = c0*4+1     Python that builds it again
//   parseUOp(text)  reads the text of pyrender
//
// All of them take time linear in the graph, shared parts included, and none recurses: a chain of 50,000
// nodes is printed like any graph.
#pragma once
#include "engine/uop/uop.h"

#include <string>
#include <string_view>

namespace uopscope {

/// The node as an expression with its sources down to `maxDepth`, for the window and for messages. A source
/// that lies deeper, or would make the text longer than `maxLength`, is written as "#id".
std::string expression(UOp u, int maxDepth = 8, size_t maxLength = 4000);
/// The text of render(), with parentheses around an operation that stands alone: "(a+1)", as scripts of the
/// reference expect it.
std::string closedExpression(UOp u);
/// One line about the node without its sources: "ADD dtypes.float (12, 13)".
std::string brief(UOp u);

/// Python assignments, one line per shared or notable node; the last line assigns `ast`.
std::string pyrender(UOp u);
/// Makes the nodes in the current pool; returns the one assigned last. Throws Error(Value) with line and
/// position.
UOp parseUOp(std::string_view text);

} // namespace uopscope
