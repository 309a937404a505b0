// The small picture of a step: what it changes and what is nearest to that, as much as can be read in the
// pane, and the map that shows where in the pass that is.
//
// Rings grow around the change, sources before users, until the layout would have to be shrunk below
// kReadable. What the step changes is drawn however much it is.
#include "viz/pictures/pass_view.h"

#include <algorithm>
#include <unordered_map>

namespace uopscope {
namespace {

/// Zoom at which labels are read without effort.
constexpr float kReadable = 0.75f, kBorder = 48;
/// A graph of this many nodes is tried as a whole; larger ones never fit.
constexpr size_t kTried = 90;
/// Nodes of a small picture, tried from the largest on.
constexpr size_t kBudgets[] = {48, 36, 27, 20, 15, 12, 9, 6, 4};
/// What more nodes than this read is no neighbourhood, and of a node with more sources the first ones are
/// shown.
constexpr size_t kCrowd = 6, kFirstSources = 10;

} // namespace

bool PassView::fits() const {
  return width_ * kReadable <= std::max(200.0f, arrangement_.paneWidth - kBorder) &&
         height_ * kReadable <= std::max(160.0f, arrangement_.paneHeight - kBorder);
}

void PassView::layOutNear(const std::atomic<bool>* cancel) {
  const auto awakeSlots =
      static_cast<size_t>(std::ranges::count_if(slots_, [&](const Slot& s) { return s.drawn && awake(s); }));
  if (awakeSlots <= kTried) {
    layOut(cancel);
    if (fits()) return;
  }
  for (const size_t most : kBudgets) {
    if (cancel && cancel->load(std::memory_order_relaxed)) return;
    findNear(most);
    layOut(cancel);
    if (fits()) return;
  }
}

void PassView::findNear(size_t most) {
  near_.assign(slots_.size(), false);
  nearNodes_ = {};
  const int64_t to = std::clamp<int64_t>(arrangement_.lastStep, 0, steps());
  const int64_t from = std::clamp<int64_t>(arrangement_.firstStep - 1, 0, to);
  const std::vector<NodeId>& graph = cursor_.graphAt(to);
  NodeMap<bool> present;
  std::unordered_map<NodeId, std::vector<NodeId>> users;
  for (NodeId node : graph) {
    present[node] = true;
    if (!folds(node))
      for (NodeId s : cursor_.raw(node).src)
        if (!folds(s)) users[s].push_back(node);
  }
  size_t count = 0;
  std::vector<NodeId> ring;
  auto reveal = [&](NodeId node) {
    if (const auto slot = slotOf(node))
      near_[*slot] = true;
    else
      nearNodes_[node] = true;
  };
  NodeMap<bool> met;
  auto add = [&](NodeId node) {
    if (!present.contains(node) || folds(node) || met.contains(node)) return;
    met[node] = true;
    reveal(node);
    ring.push_back(node);
    ++count;
  };
  if (from < to) {
    const GraphDiff diff = cursor_.diff(from, to);
    for (const auto& c : diff.changed)
      if (c.rewritten) reveal(c.before), add(c.after);
    for (NodeId node : diff.added) add(node);
    for (NodeId node : diff.removed) reveal(node);
    // What became a constant is written into the labels of those that read it: they are what one looks at.
    if (ring.empty()) {
      NodeMap<bool> gone;
      for (const auto& c : diff.changed)
        if (c.rewritten) gone[c.before] = true;
      for (const auto& c : diff.changed)
        if (!c.rewritten &&
            std::ranges::any_of(cursor_.raw(c.before).src, [&](NodeId s) { return gone.contains(s); }))
          add(c.after);
    }
  }
  if (arrangement_.kept != kNoNode) add(arrangement_.kept);
  if (ring.empty()) add(cursor_.rootAt(to));
  for (const uint32_t slot : arrangement_.shown)
    if (slot < near_.size()) near_[slot] = true;
  while (!ring.empty() && count < most) {
    const std::vector<NodeId> last = std::move(ring);
    ring.clear();
    for (NodeId node : last) {
      const auto src = cursor_.raw(node).src;
      for (size_t k = 0; k < std::min(src.size(), kFirstSources) && count < most; ++k) add(src[k]);
    }
    for (NodeId node : last)
      if (const auto& readers = users[node]; readers.size() <= kCrowd)
        for (size_t k = 0; k < readers.size() && count < most; ++k) add(readers[k]);
  }
}

void PassView::addMap(Picture& picture, const GraphDiff& diff) {
  auto map = std::make_shared<Picture>();
  map->pass = picture.pass;
  map->step = picture.step;
  NodeMap<Mark> marks;
  for (NodeId node : diff.added) marks[node] = Mark::Added;
  for (const auto& c : diff.changed) marks[c.after] = c.rewritten ? Mark::Added : Mark::Changed;
  map->nodes.reserve(diff.after.size());
  bool first = true;
  for (NodeId node : diff.after) {
    const auto slot = slotOf(node);
    if (folds(node) || !slot || slots_[*slot].homeWidth <= 0) continue;
    const Slot& s = slots_[*slot];
    PictureNode& n = map->nodes.emplace_back();
    n.id = static_cast<int64_t>(node);
    n.slot = *slot;
    n.family = opFamily(opName(cursor_.fields(node).op));
    if (const Mark* mark = marks.find(node)) n.mark = *mark;
    n.x = s.home.x, n.y = s.home.y, n.width = s.homeWidth, n.height = s.homeHeight;
    if (!picture.find(n.id)) continue;
    const LayoutRect here{n.x - n.width / 2, n.y - n.height / 2, n.x + n.width / 2, n.y + n.height / 2};
    LayoutRect& v = picture.mapView;
    v = first ? here
              : LayoutRect{std::min(v.left, here.left), std::min(v.top, here.top),
                           std::max(v.right, here.right), std::max(v.bottom, here.bottom)};
    first = false;
  }
  map->index();
  picture.map = std::move(map);
}

} // namespace uopscope
