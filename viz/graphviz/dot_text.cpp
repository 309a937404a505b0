// Graphs as DOT. cgraph writes each default once and leaves out attributes that equal it.
#include "engine/base/error.h"
#include "viz/graphviz/dot_graph.h"
#include "viz/graphviz/library.h"

#include <cstdio>
#include <cstdlib>

namespace uopscope {
namespace {

using graphviz::text;

// Inside quotation marks DOT has one escape, \" for ". So \ stands for itself, except at the end and before ".
std::string spellable(std::string s) {
  for (size_t i = 0; i < s.size(); ++i)
    if (!s[i] || (s[i] == '\\' && (i + 1 == s.size() || s[i + 1] == '"'))) s[i] = ' ';
  return s;
}

// A label is a text with escapes of its own: \n, \N for the name of the node.
std::string escaped(const std::string& plain) {
  std::string out;
  for (const char c : plain) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

void set(Agraph_t* g, int kind, void* object, const std::string& name, const std::string& value) {
  if (!agattr(g, kind, text(name), nullptr)) agattr(g, kind, text(name), text(""));
  agset(object, text(name), text(value));
}

std::string written(Agraph_t* g) {
  char* bytes = nullptr;
  size_t size = 0;
  FILE* file = open_memstream(&bytes, &size);
  if (!file) throw Error(ErrorKind::Runtime, "no memory for a graph in DOT");
  const int failed = agwrite(g, file);
  std::fclose(file);
  std::string out(bytes, size);
  std::free(bytes);
  if (failed) throw Error(ErrorKind::Runtime, "Graphviz could not write the graph as DOT");
  return out;
}

} // namespace

std::string writeDot(const DotGraph& graph) {
  const std::lock_guard lock(graphviz::mutex());
  const graphviz::Graph holder(agopen(text(spellable(graph.name)), Agdirected, nullptr));
  Agraph_t* g = holder.get();
  if (!g) throw Error(ErrorKind::Runtime, "Graphviz could not make a graph");
  for (const auto& [name, value] : graph.attributes) agattr(g, AGRAPH, text(name), text(spellable(value)));
  for (const auto& [name, value] : graph.nodeDefaults) agattr(g, AGNODE, text(name), text(spellable(value)));
  for (const auto& [name, value] : graph.edgeDefaults) agattr(g, AGEDGE, text(name), text(spellable(value)));
  std::vector<Agnode_t*> nodes;
  nodes.reserve(graph.nodes.size());
  for (const DotNode& n : graph.nodes) {
    Agnode_t* node = agnode(g, text(spellable(n.name)), 1);
    nodes.push_back(node);
    if (!n.label.empty()) {
      if (!agattr(g, AGNODE, text("label"), nullptr)) agattr(g, AGNODE, text("label"), text("\\N"));
      agset(node, text("label"), text(escaped(n.label)));
    }
    for (const auto& [name, value] : n.attributes) set(g, AGNODE, node, name, spellable(value));
  }
  for (const DotEdge& e : graph.edges) {
    Agedge_t* edge = agedge(g, nodes.at(e.from), nodes.at(e.to), nullptr, 1);
    for (const auto& [name, value] : e.attributes) set(g, AGEDGE, edge, name, spellable(value));
  }
  return written(g);
}

} // namespace uopscope
