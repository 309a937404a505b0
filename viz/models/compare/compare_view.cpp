// Pairs the nodes of both graphs by content hash, then from the roots down, and draws the union. Texts are
// paired by the line diff.
#include "viz/models/compare/compare_view.h"

#include "replay/read/text_diff.h"
#include "viz/models/work/text.h"
#include "viz/pictures/labels.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace uopscope {
namespace {

struct ViewedSide {
  Cursor& cursor;
  NodeReader read;
  std::vector<NodeId> nodes;
  NodeId root = kNoNode;
  std::unordered_map<NodeId, uint64_t> hash;

  explicit ViewedSide(const CompareSide& side)
      : cursor(*side.cursor), read(cursor.reader()), nodes(cursor.graphAt(side.step)),
        root(cursor.rootAt(side.step)), hash(contentsOf(cursor, nodes)) {}
};

} // namespace

std::unordered_map<NodeId, uint64_t> contentsOf(Cursor& cursor, const std::vector<NodeId>& graph) {
  std::unordered_map<NodeId, uint64_t> hash;
  for (const NodeId id : graph) {
    const NodeFields n = cursor.fields(id);
    uint64_t h = static_cast<uint64_t>(n.op) * 0x9E3779B97F4A7C15ull ^
                 std::hash<std::string>()(n.dtype.name()) ^ (n.arg.hash() * 31) ^ (n.tag.hash() * 131);
    for (const NodeId s : n.src) h = (h ^ hash[s]) * 0xBF58476D1CE4E5B9ull + 0x94D049BB133111EBull;
    hash[id] = h;
  }
  return hash;
}

namespace {

/// The nodes of two graphs that stand for each other.
struct Pairs {
  std::unordered_map<NodeId, NodeId> leftOf, rightOf; ///< pairs of equal or changed nodes
  std::unordered_set<NodeId> equal;                   ///< of the second graph: the same content in both
};

Pairs pairNodes(ViewedSide& a, ViewedSide& b) {
  Pairs p;
  std::unordered_map<uint64_t, NodeId> byHash;
  for (const NodeId id : a.nodes) byHash[a.hash[id]] = id;
  for (const NodeId id : b.nodes)
    if (const auto it = byHash.find(b.hash[id]); it != byHash.end()) {
      p.leftOf[id] = it->second, p.rightOf[it->second] = id;
      p.equal.insert(id);
    }
  // From the roots down: two nodes at the same place with the same operation are one changed node.
  std::vector<std::pair<NodeId, NodeId>> queue{{a.root, b.root}};
  std::unordered_set<uint64_t> seen;
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto [l, r] = queue[i];
    if (!seen.insert(static_cast<uint64_t>(l) << 32 | r).second) continue;
    const bool free = !p.leftOf.contains(r) && !p.rightOf.contains(l);
    if (free && a.cursor.fields(l).op == b.cursor.fields(r).op)
      p.leftOf[r] = l, p.rightOf[l] = r;
    else if (const auto pair = p.leftOf.find(r); pair == p.leftOf.end() || pair->second != l)
      continue;
    if (p.equal.contains(r)) continue;
    const auto ls = a.cursor.raw(l).src, rs = b.cursor.raw(r).src;
    for (size_t k = 0; k < std::min(ls.size(), rs.size()); ++k) queue.push_back({ls[k], rs[k]});
  }
  return p;
}

/// Gives boxes and edges their places.
void lay(Picture& picture, bool leftToRight, const std::atomic<bool>* cancel) {
  std::vector<LayoutNode> boxes;
  std::vector<LayoutEdge> edges;
  for (const PictureNode& n : picture.nodes) boxes.push_back({n.width, n.height});
  for (const PictureEdge& e : picture.edges) edges.push_back({e.from, e.to, e.port});
  LayoutOptions o;
  o.leftToRight = leftToRight;
  o.cancel = cancel;
  Layout layout = layoutLayered(boxes, edges, o);
  for (size_t i = 0; i < boxes.size(); ++i)
    picture.nodes[i].x = layout.centres[i].x, picture.nodes[i].y = layout.centres[i].y;
  const auto bends = std::make_shared<const std::vector<std::vector<LayoutPoint>>>(std::move(layout.bends));
  for (size_t i = 0; i < edges.size(); ++i) picture.edges[i].bends = (*bends)[i];
  picture.bendsOf = bends;
  picture.width = layout.width, picture.height = layout.height;
  picture.index();
}

} // namespace

PicturePtr compareGraphs(const CompareSide& before, const CompareSide& after, bool leftToRight,
                         const std::atomic<bool>* cancel) {
  ViewedSide a(before), b(after);
  auto [leftOf, rightOf, equal] = pairNodes(a, b);
  auto picture = std::make_shared<Picture>();
  picture->pass = -2;
  picture->leftToRight = leftToRight;
  std::unordered_map<int64_t, uint32_t> at;
  auto add = [&](ViewedSide& side, NodeId id, Mark mark) {
    const NodeFields n = side.cursor.fields(id);
    if (foldsAlways(side.read, n)) {
      ++picture->foldedConstants;
      return;
    }
    PictureNode box = labelOf(side.read, n);
    box.mark = mark;
    if (&side == &a) box.id = kFirstLeftId + id;
    for (uint32_t port = 0; port < n.src.size(); ++port)
      if (const NodeFields s = side.cursor.fields(n.src[port]); foldsAlways(side.read, s))
        box.folded.push_back({port, s.id, foldedText(side.read, s)});
    if (mark == Mark::Changed) {
      const PictureNode old = labelOf(a.read, a.cursor.fields(leftOf[id]));
      if (old.detail != box.detail || old.dtype != box.dtype)
        box.was = old.op + "  " + (old.detail != box.detail ? old.detail : old.dtype);
    }
    joinFolded(box.folded);
    measure(box);
    at[box.id] = static_cast<uint32_t>(picture->nodes.size());
    picture->nodes.push_back(std::move(box));
  };
  for (const NodeId id : b.nodes)
    add(b, id, equal.contains(id) ? Mark::Same : leftOf.contains(id) ? Mark::Changed : Mark::Added);
  for (const NodeId id : a.nodes)
    if (!rightOf.contains(id)) add(a, id, Mark::Removed);
  // The end of an edge of the first side: the node's partner, or the node itself.
  auto now = [&](NodeId left) {
    const auto it = rightOf.find(left);
    return it == rightOf.end() ? kFirstLeftId + left : static_cast<int64_t>(it->second);
  };
  std::unordered_set<uint64_t> joined;
  auto connect = [&](int64_t from, int64_t to, uint32_t port, uint32_t ports, Mark mark) {
    const auto f = at.find(from), t = at.find(to);
    if (f == at.end() || t == at.end() || f->second == t->second) return;
    if (!joined.insert(static_cast<uint64_t>(f->second) << 32 | t->second).second && mark == Mark::Removed)
      return;
    picture->edges.push_back({f->second, t->second, port, ports, mark, false, {}});
    if (mark != Mark::Removed) ++picture->nodes[f->second].users;
  };
  for (const NodeId id : b.nodes) {
    const auto src = b.cursor.raw(id).src;
    std::span<const NodeId> old;
    if (leftOf.contains(id)) old = a.cursor.raw(leftOf[id]).src;
    for (uint32_t p = 0; p < src.size(); ++p) {
      const bool had = equal.contains(id) || std::any_of(old.begin(), old.end(), [&](NodeId o) {
                         return now(o) == static_cast<int64_t>(src[p]);
                       });
      connect(src[p], id, p, static_cast<uint32_t>(src.size()), had ? Mark::Same : Mark::Added);
    }
  }
  for (const NodeId id : a.nodes) {
    const auto src = a.cursor.raw(id).src;
    for (uint32_t p = 0; p < src.size(); ++p)
      connect(now(src[p]), now(id), p, static_cast<uint32_t>(src.size()), Mark::Removed);
  }
  joinWires(*picture);
  lay(*picture, leftToRight, cancel);
  return picture;
}

std::vector<TextRow> compareTexts(const QString& before, const QString& after, Language language) {
  const std::string a = before.toStdString(), b = after.toStdString();
  auto marked = [&](const std::vector<DiffWord>& words, const char* colour, const char* tag) {
    QString html;
    for (const DiffWord& w : words)
      html += w.changed ? QStringLiteral("<%1><font color=\"@%2\">%3</font></%1>")
                              .arg(QLatin1String(tag), QLatin1String(colour), escaped(text(w.text)))
                        : highlightLine(text(w.text), language);
    return html;
  };
  auto whole = [&](std::string_view line, const char* colour) {
    return QStringLiteral("<font color=\"@%1\">%2</font>").arg(QLatin1String(colour), escaped(text(line)));
  };
  std::vector<TextRow> out;
  bool insideLeft = false, insideRight = false; // whether a line begins inside a comment
  const std::vector<DiffLine> lines = diffLines(a, b);
  for (const auto& [left, right] : sideBySide(lines)) {
    const DiffLine* l = left < 0 ? nullptr : &lines[static_cast<size_t>(left)];
    const DiffLine* r = right < 0 ? nullptr : &lines[static_cast<size_t>(right)];
    TextRow row;
    row.left = l ? l->before : 0, row.right = r ? r->after : 0;
    row.width = static_cast<int>(std::max(l ? l->text.size() : 0, r ? r->text.size() : 0));
    if (l && l == r) {
      row.leftHtml = highlightLine(text(l->text), language, &insideLeft);
      row.rightHtml = highlightLine(text(l->text), language, &insideRight);
    } else if (l && r) {
      const DiffWords words = diffWords(l->text, r->text);
      row.mark = '~';
      row.leftHtml = marked(words.before, "removed", "s");
      row.rightHtml = marked(words.after, "added", "b");
    } else if (l) {
      row.mark = '-';
      row.leftHtml = whole(l->text, "removed");
    } else {
      row.mark = '+';
      row.rightHtml = whole(r->text, "added");
    }
    out.push_back(std::move(row));
  }
  return out;
}

} // namespace uopscope
