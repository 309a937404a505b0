// Makes the label of a node, and decides which nodes are written into the labels of their users instead.
//
//   NodeFields n = cursor.fields(id);
//   PictureNode box = labelOf(read, n);        // op "ADD", detail "r0*4+r1", dtype "index"
#pragma once
#include "replay/read/print.h"
#include "viz/pictures/picture.h"

namespace uopscope {

/// A box with operation, detail, type and family of a node; without position and mark.
PictureNode labelOf(const NodeReader& read, const NodeFields& node);
/// "float.vec(4)"; empty for void.
std::string shortType(DType dtype);
/// Whether a node is a constant or consists of constants only (a shape): its users' labels contain it.
bool foldsAlways(const NodeReader& read, const NodeFields& node);
/// Loop variables, parameters and buffers: with many users, they are written into the users' labels.
bool mayBeHub(Op op);
/// The text of a folded node in a label.
std::string foldedText(const NodeReader& read, const NodeFields& node);
/// Whether a node is arithmetic over loop variables with a text of at most `most` characters.
bool isShortExpression(const NodeReader& read, const NodeFields& node, size_t most);
std::string expressionText(const NodeReader& read, NodeId node);
/// Operation and detail in one line.
std::string titleOf(const NodeReader& read, const NodeFields& node);
/// Shortens a list of sources that is too long for a label: adjacent equal sources become one, and numbers in
/// even steps are shown by their ends.
void joinFolded(std::vector<FoldedSource>& folded);

} // namespace uopscope
