// A graph in the language of Graphviz, as text and as data. Graphviz' library cgraph reads and writes the text,
// so quoting, comments, ports and subgraphs are its business. cgraph has global state: one mutex guards it.
//
//   DotGraph g;
//   g.nodes = {{.name = "a \"b\"", .label = "two\nlines"}, {.name = "c"}};
//   g.edges = {{0, 1}};                    // from the first node to the second
//   parseDot(writeDot(g)).nodes[0].name    // a "b"
//
// parseDot() trusts its text: a hostile one can take all memory, or hit a fault of cgraph. readDot()
// (graphviz.h) reads the files of others in a process of its own.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace uopscope {

using DotAttributes = std::vector<std::pair<std::string, std::string>>;

struct DotNode {
  std::string name;
  std::string label; ///< plain text with line breaks; empty: the name
  DotAttributes attributes = {};
};
/// An edge from a node to a node, both as indices.
struct DotEdge {
  uint32_t from = 0, to = 0;
  DotAttributes attributes = {};
};
struct DotGraph {
  std::string name;
  /// Of the graph, and defaults of all nodes and edges.
  DotAttributes attributes, nodeDefaults, edgeDefaults;
  std::vector<DotNode> nodes;
  std::vector<DotEdge> edges;
};

/// Names of nodes must differ. DOT cannot spell a zero byte, nor a backslash at the end of a name or before a
/// quotation mark: a blank stands for them.
std::string writeDot(const DotGraph& graph);
/// Names, labels, edges and what stands at their heads ("headlabel"); other attributes are left out. Of an edge in a file for `graph` or `digraph` alike,
/// `from` stands left. Edges of subgraphs count like others. Error(Value) says the line of the fault.
DotGraph parseDot(const std::string& text);

} // namespace uopscope
