// Pictures of a rule: its pattern, and one rewrite that it makes, as the graph before and after in one picture with the
// usual marks. They are made where the rule runs, in a process of its own, and travel as JSON.
//
//   nlohmann::json graph = rewriteGraph(before, after);       // nodes near the root; what lies deeper is text
//   nlohmann::json shape = patternGraph(*rule);
//   PicturePtr picture = pictureOf(graph);                    // laid out; null for JSON that is no graph
//
// Invariant: pictureOf() believes nothing of its JSON: an edge to a node that is not there is left out, texts are cut.
#pragma once
#include "engine/rewrite/rule.h"
#include "viz/pictures/picture.h"

#include <nlohmann/json.hpp>

namespace uopscope {

/// {nodes: [{op, detail, dtype, family, mark, folded: [{port, count, text}]}], edges: [{from, to, port, ports, mark}]}.
/// Nodes at most `depth` below the two roots, and at most 40; a source that is farther away is a text in the label.
nlohmann::json rewriteGraph(UOp before, UOp after, int depth = 3);
/// The same of two whole graphs, at most 300 nodes of the later one: those near its root and near what is new. `images`: what
/// became of the nodes of the earlier one.
nlohmann::json wholeRewriteGraph(UOp before, UOp after, const UOpMap<UOp>& images);
/// The same of a pattern: a node for each test; alternatives and variables in words.
nlohmann::json patternGraph(const Rule& rule);
PicturePtr pictureOf(const nlohmann::json& graph);

} // namespace uopscope
