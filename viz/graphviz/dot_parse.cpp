// DOT as graphs. A label is decoded to plain text: its escapes, or the tags of a label in HTML, go.
#include "engine/base/error.h"
#include "viz/graphviz/dot_graph.h"
#include "viz/graphviz/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

namespace uopscope {
namespace {

using graphviz::text;

std::string plainLabel(std::string_view label, const std::string& node, std::string_view graph) {
  std::string out;
  for (size_t i = 0; i < label.size(); ++i) {
    if (label[i] != '\\' || i + 1 == label.size()) {
      out += label[i];
      continue;
    }
    switch (const char c = label[++i]) {
    case 'n':
    case 'l':
    case 'r':
      if (i + 1 < label.size()) out += '\n'; // at the end it only says how the last line is set
      break;
    case 'N': out += node; break;
    case 'G': out += graph; break;
    default: out += c;
    }
  }
  return out;
}

// The text of a label in HTML: without tags, a row or a break of it as a line.
std::string withoutTags(std::string_view html) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&nbsp;", ' '}};
  std::string out;
  for (size_t i = 0; i < html.size();) {
    if (html[i] == '<') {
      const size_t end = html.find('>', i);
      const std::string_view tag = html.substr(i, end == html.npos ? html.npos : end - i);
      auto named = [&](std::string_view name) {
        return tag.size() >= name.size() &&
               std::equal(name.begin(), name.end(), tag.begin(),
                          [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
      };
      if ((named("<br") || named("</tr")) && !out.empty() && out.back() != '\n') out += '\n';
      if (named("</td") && !out.empty() && out.back() != ' ') out += ' ';
      i = end == html.npos ? html.size() : end + 1;
      continue;
    }
    const auto* entity = std::ranges::find_if(
        kEntities, [&](const auto& known) { return html.substr(i).starts_with(known.first); });
    const bool known = entity != std::end(kEntities);
    out += known ? entity->second : html[i];
    i += known ? entity->first.size() : 1;
  }
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out;
}

DotAttributes headOf(Agedge_t* edge) {
  const char* label = agget(edge, text("headlabel"));
  return label && *label ? DotAttributes{{"headlabel", label}} : DotAttributes{};
}

/// What cgraph complained of while this lives.
class Complaints {
public:
  Complaints() : before_(agseterrf(&take)) { said().clear(); }
  ~Complaints() { agseterrf(before_); }
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;
  /// "Error: syntax error in line 3 near '}'" as "line 3: syntax error near '}'".
  static std::string first() {
    std::string all = said();
    all = all.substr(0, all.find('\n'));
    for (const std::string_view word : {"Error: ", "Warning: "})
      if (all.starts_with(word)) all.erase(0, word.size());
    const std::string_view place = " in line ";
    const size_t at = all.find(place);
    if (at == std::string::npos) return all;
    const size_t number = at + place.size(),
                 end = std::min(all.find_first_not_of("0123456789", number), all.size());
    return fmt::format("line {}: {}{}", all.substr(number, end - number), all.substr(0, at), all.substr(end));
  }

private:
  static std::string& said() {
    static std::string text;
    return text;
  }
  static int take(char* part) {
    constexpr size_t kMost = 2000;
    if (said().size() < kMost) said() += part;
    return 0;
  }
  agusererrf before_;
};

} // namespace

graphviz::Graph graphviz::parse(const std::string& whole) {
  if (const size_t zero = whole.find('\0'); zero != std::string::npos)
    throw Error(
        ErrorKind::Value,
        fmt::format("line {}: a zero byte: this is no text",
                    std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(zero), '\n') + 1));
  const Complaints complaints;
  Graph g(agmemread(whole.c_str()));
  if (g) return g;
  const std::string why = Complaints::first();
  throw Error(ErrorKind::Value, why.empty() ? "not a graph in DOT: digraph or graph expected" : why);
}

DotGraph parseDot(const std::string& whole) {
  const std::lock_guard lock(graphviz::mutex());
  const graphviz::Graph holder = graphviz::parse(whole);
  Agraph_t* g = holder.get();
  DotGraph out;
  if (const char* name = agnameof(g); name && name[0] != '%') out.name = name; // %1: it has none
  std::unordered_map<const Agnode_t*, uint32_t> number;
  for (Agnode_t* n = agfstnode(g); n; n = agnxtnode(g, n)) {
    number[n] = static_cast<uint32_t>(out.nodes.size());
    DotNode& node = out.nodes.emplace_back();
    node.name = agnameof(n);
    if (char* label = agget(n, text("label")))
      node.label = aghtmlstr(label) ? withoutTags(label) : plainLabel(label, node.name, out.name);
    if (node.label.empty()) node.label = node.name;
  }
  std::vector<std::pair<uint64_t, DotEdge>> edges; // by their place in the file
  for (Agnode_t* n = agfstnode(g); n; n = agnxtnode(g, n))
    for (Agedge_t* e = agfstout(g, n); e; e = agnxtout(g, e))
      edges.push_back({AGSEQ(e), {number[agtail(e)], number[aghead(e)], headOf(e)}});
  std::ranges::sort(edges, {}, [](const auto& e) { return e.first; });
  for (auto& [place, edge] : edges) out.edges.push_back(std::move(edge));
  return out;
}

} // namespace uopscope
