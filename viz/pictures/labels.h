// The few words a node is drawn with, and which nodes are written into the labels of their users instead.
//
//   NodeFields n = cursor.fields(id);
//   PictureNode box = labelOf(read, n);        // op "ADD", detail "r0*4+r1", dtype "index"
#pragma once
#include "replay/read/print.h"
#include "viz/pictures/picture.h"

namespace uopscope {

/// Operation, detail, type and family of a node; no position, no mark.
PictureNode labelOf(const NodeReader& read, const NodeFields& node);
/// "float.vec(4)"; empty for void.
std::string shortType(DType dtype);
/// A constant and what hangs on constants only (a shape): written into its users' labels.
bool foldsAlways(const NodeReader& read, const NodeFields& node);
/// Loop variables, parameters, buffers: written into labels where they have many users.
bool mayBeHub(Op op);
/// What stands for a folded node in a label.
std::string foldedText(const NodeReader& read, const NodeFields& node);
/// Arithmetic over loop variables that is told in `most` characters.
bool isShortExpression(const NodeReader& read, const NodeFields& node, size_t most);
std::string expressionText(const NodeReader& read, NodeId node);
/// Operation and detail in one line.
std::string titleOf(const NodeReader& read, const NodeFields& node);
/// Of more sources than a label has room for, those side by side that read the same are told as one, and
/// numbers in even steps by their ends.
void joinFolded(std::vector<FoldedSource>& folded);

} // namespace uopscope
