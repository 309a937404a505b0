// Nodes as text, and back.
//
//   u.render()      r0*4+r1            an expression of index or scalar arithmetic
//   u.str()         the tree of UOp(Ops.ADD, ...) lines, repeated parts named x0:=
//   pyrender(u)     c0 = UOp.range(4, 0, AxisType.LOOP) ... ast = c0*4+1     Python that builds the graph
//   again parseUOp(text)  reads the text of pyrender
//
// All of them are linear in the graph, shared parts included, and none recurses along it: a chain of 50,000
// nodes is as good as any other.
#pragma once
#include "engine/uop/uop.h"

#include <string>
#include <string_view>

namespace uopscope {

/// The node as an expression, sources down to `maxDepth`; a source that lies deeper, or would make the
/// text longer than `maxLength`, is written as "#id". For the window and for messages.
std::string expression(UOp u, int maxDepth = 8, size_t maxLength = 4000);
/// As render() writes it, but in parentheses wherever it stands alone: "(a+1)", as scripts of the reference
/// expect it.
std::string closedExpression(UOp u);
/// One line about the node alone: "ADD dtypes.float (12, 13)".
std::string brief(UOp u);

/// Python assignments, one line per shared or notable node, the last one to `ast`.
std::string pyrender(UOp u);
/// The node assigned last, made in the current pool. Throws Error(Value) with line and position.
UOp parseUOp(std::string_view text);

} // namespace uopscope
