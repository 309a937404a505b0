// Makes one picture of a pass: the graph after a step, each node at the place of its slot, with the changes
// of the last steps, and removed nodes at their old places.
//
// A node appears in a picture once. Sources are placed before their users, so a node without a slot can be
// put beside one of its sources.
//
//   Draft draft(view, step, from);
//   PicturePtr picture = draft.finish();       // the body of PassView::at
#include "viz/pictures/labels.h"
#include "viz/pictures/pass_view.h"

#include <algorithm>
#include <map>

namespace uopscope {
namespace {

// Number of labels kept for drawing (twice); a long walk through large graphs would collect millions.
constexpr size_t kKeptLabels = 50'000;

} // namespace

class PassView::Draft {
public:
  Draft(PassView& view, int64_t step, int64_t from)
      : view_(view), picture_(std::make_shared<Picture>()), crowded_(step - from > 1),
        taken_(view.slots_.size(), false) {
    picture_->pass = view.pass();
    picture_->step = step;
    picture_->alone = view.arrangement_.lastStep >= 0 || view.byLayer();
    picture_->layout = view.layout_;
    picture_->leftToRight = view.options_.leftToRight;
    picture_->curved = view.curved_;
    picture_->layoutNote = view.layoutNote_;
    picture_->width = view.width_, picture_->height = view.height_;
    picture_->straightEdges = view.straight_;
    readChanges(from);
  }
  PicturePtr finish() {
    placeNodes();
    placeRemoved();
    const auto count = static_cast<uint32_t>(picture_->nodes.size());
    for (uint32_t i = 0; i < count; ++i) connectSources(i);
    picture_->everySlotEdges = view_.everyEdge_;
    picture_->bendsOf = view_.bends_;
    if (!view_.arrangement_.plain()) view_.fold(*picture_);
    joinWires(*picture_);
    for (const PictureNode& n : picture_->nodes) picture_->hubs += n.hub;
    picture_->index();
    picture_->changed += farChanged_;
    if (view_.byLayer())
      view_.nameLevels(*picture_);
    else if (picture_->alone)
      view_.addMap(*picture_, diff_);
    return picture_;
  }

private:
  void readChanges(int64_t from) {
    const int64_t step = picture_->step;
    if (from == step)
      diff_.after = view_.cursor_.graphAt(step);
    else
      diff_ = view_.cursor_.diff(from, step);
    for (const auto& c : diff_.changed) {
      image_[c.before] = c.after;
      const GraphDiff::Change*& known = cameFrom_[c.after];
      if (!known || (c.rewritten && !known->rewritten)) known = &c;
    }
    for (NodeId node : diff_.added) added_[node] = true;
  }

  struct Spot {
    uint32_t slot = UINT32_MAX;
    LayoutPoint centre;
  };
  /// The place of a node that no sample saw: that of the node it replaces, or below one of its sources.
  Spot spotOf(NodeId node, NodeId instead) const {
    for (NodeId candidate : {node, instead}) {
      const auto slot = candidate == kNoNode ? std::nullopt : view_.slotOf(candidate);
      if (slot && !taken_[*slot] && view_.awake(view_.slots_[*slot]))
        return {*slot, view_.slots_[*slot].centre};
    }
    for (NodeId source : view_.cursor_.raw(node).src)
      if (const uint32_t* index = at_.find(source); index && *index != UINT32_MAX) {
        const PictureNode& above = picture_->nodes[*index];
        return {UINT32_MAX, picture_->leftToRight ? LayoutPoint{above.x + 130, above.y + 40}
                                                  : LayoutPoint{above.x + 40, above.y + 66}};
      }
    return {UINT32_MAX, {lastPlaced_.x + 40, lastPlaced_.y - 66}};
  }

  PictureNode& place(NodeId node, Mark mark, NodeId instead) {
    PictureNode box = view_.label(node);
    box.mark = mark;
    const Spot s = spotOf(node, instead);
    box.x = s.centre.x, box.y = s.centre.y;
    lastPlaced_ = s.centre;
    if (s.slot != UINT32_MAX) {
      taken_[s.slot] = true;
      box.slot = s.slot;
      box.hub = view_.slots_[s.slot].hub;
      box.pinned = view_.arrangement_.pinned.contains(s.slot);
      keepToSlot(box);
    }
    at_[node] = static_cast<uint32_t>(picture_->nodes.size());
    picture_->nodes.push_back(std::move(box));
    return picture_->nodes.back();
  }
  /// In a sampled pass, a node whose size was not measured must not cover its neighbours.
  void keepToSlot(PictureNode& box) const {
    const float room = box.slot == UINT32_MAX ? 0 : view_.slots_[box.slot].width;
    if (room > 0) box.width = std::min(box.width, room);
  }

  void placeNodes() {
    picture_->nodes.reserve(diff_.after.size() + diff_.removed.size());
    for (NodeId node : diff_.after) {
      if (view_.folds(node)) {
        ++picture_->foldedConstants;
        continue;
      }
      ++picture_->graphNodes;
      if (view_.inLabel(node)) {
        ++picture_->foldedExpressions;
        continue;
      }
      if (view_.far(node)) {
        ++picture_->elsewhere;
        farChanged_ += cameFrom_.contains(node);
        continue;
      }
      Mark mark = added_.contains(node) ? Mark::Added : Mark::Same;
      NodeId was = kNoNode;
      if (const auto c = cameFrom_.find(node)) {
        was = (*c)->before;
        mark = (*c)->rewritten ? Mark::Added : Mark::Changed;
      }
      PictureNode& box = place(node, mark, was);
      if (mark == Mark::Added && was != kNoNode) {
        box.was = titleOf(view_.read_, view_.cursor_.fields(was));
        measure(box);
        keepToSlot(box);
      }
    }
  }

  std::pair<float, float> extentOf(const PictureNode& n) const {
    return picture_->leftToRight ? std::pair(n.y - n.height / 2, n.y + n.height / 2)
                                 : std::pair(n.x - n.width / 2, n.x + n.width / 2);
  }
  float rowOf(const PictureNode& n) const { return picture_->leftToRight ? n.x : n.y; }

  void placeRemoved() {
    // Changes of several steps at once: a later node may occupy a removed node's place.
    if (crowded_)
      for (const PictureNode& n : picture_->nodes) rows_[rowOf(n)].push_back(extentOf(n));
    for (NodeId node : diff_.removed) placeGhost(node);
    for (const auto& c : diff_.changed) {
      // Its replacement takes its place; only where the result stands at a different place does it leave a
      // gap.
      if (const auto slot = view_.slotOf(c.before); slot && !taken_[*slot]) placeGhost(c.before);
    }
  }
  void placeGhost(NodeId node) {
    if (view_.hidesInLabel(node) || at_.contains(node) || view_.far(node)) return;
    const PictureNode& box = place(node, Mark::Removed, kNoNode);
    if (!crowded_) return;
    auto& row = rows_[rowOf(box)];
    const auto [low, high] = extentOf(box);
    if (std::ranges::any_of(row, [&](const auto& r) { return r.first < high && low < r.second; })) {
      picture_->nodes.pop_back();
      at_[node] = UINT32_MAX;
      ++picture_->covered;
    } else {
      row.emplace_back(low, high);
    }
  }

  NodeId imageOf(NodeId node) const {
    const NodeId* next = image_.find(node);
    return next ? *next : node;
  }
  uint32_t indexOf(NodeId node) const {
    for (int hops = 0; hops < 3; ++hops) {
      if (const uint32_t* index = at_.find(node)) return *index;
      const NodeId* next = image_.find(node);
      if (!next) break;
      node = *next;
    }
    return UINT32_MAX;
  }
  void connect(NodeId source, uint32_t to, uint32_t port, size_t ports, Mark mark) {
    const uint32_t from = indexOf(source);
    if (from == UINT32_MAX || from == to) return;
    PictureEdge e{from, to, port, static_cast<uint32_t>(ports), mark, false, {}};
    const uint32_t a = picture_->nodes[from].slot, b = picture_->nodes[to].slot;
    if (a != UINT32_MAX && b != UINT32_MAX) {
      e.quiet = view_.quiet(a, b);
      const auto bends = view_.bends_->find(key(a, b));
      if (bends != view_.bends_->end()) e.bends = bends->second;
    }
    picture_->hiddenEdges += e.quiet;
    if (mark != Mark::Removed) ++picture_->nodes[from].users;
    picture_->edges.push_back(e);
  }
  void connectSources(uint32_t to) {
    const auto id = static_cast<NodeId>(picture_->nodes[to].id);
    const Mark mark = picture_->nodes[to].mark;
    const bool changed = mark == Mark::Changed || mark == Mark::Added;
    const auto src = view_.cursor_.raw(id).src;
    const auto c = cameFrom_.find(id);
    std::span<const NodeId> old;
    if (c && changed) old = view_.cursor_.raw((*c)->before).src;
    // A sink may have thousands of sources, so they are looked up in maps instead of compared pairwise.
    NodeMap<bool> had, has;
    for (NodeId o : old) had[o] = had[imageOf(o)] = true;
    if (!old.empty())
      for (NodeId s : src) has[s] = true;
    for (uint32_t port = 0; port < src.size(); ++port) {
      Mark edge = mark == Mark::Removed ? Mark::Removed : Mark::Same;
      if (changed && !had.contains(src[port])) edge = Mark::Added;
      connect(src[port], to, port, src.size(), edge);
    }
    for (uint32_t port = 0; port < old.size(); ++port)
      if (!has.contains(imageOf(old[port])) && !has.contains(old[port]))
        connect(old[port], to, port, old.size(), Mark::Removed);
  }

  PassView& view_;
  std::shared_ptr<Picture> picture_;
  GraphDiff diff_;
  NodeMap<const GraphDiff::Change*> cameFrom_; ///< after -> the change that made it
  NodeMap<NodeId> image_;                      ///< before -> after
  NodeMap<bool> added_;
  const bool crowded_;      ///< the changes of several steps are shown
  NodeMap<uint32_t> at_;    ///< node -> index in the picture
  std::vector<bool> taken_; ///< slots in use
  std::map<float, std::vector<std::pair<float, float>>> rows_;
  LayoutPoint lastPlaced_;
  uint32_t farChanged_ = 0;
};

PicturePtr PassView::at(int64_t step, int64_t interval) {
  if (labels_.size() > kKeptLabels) {
    olderLabels_ = std::move(labels_);
    labels_.clear();
  }
  step = std::clamp<int64_t>(step, 0, steps());
  return Draft(*this, step, std::clamp<int64_t>(step - std::max<int64_t>(1, interval), 0, step)).finish();
}

} // namespace uopscope
