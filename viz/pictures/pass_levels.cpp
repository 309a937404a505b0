// One level of the layers of a model (pass_layers.cpp) as a picture of at most kMostBoxes boxes: those inside the
// level, and of those around it the direct neighbours.
//
// Which layers are opened depends on the level and the pane alone: a layer that has nearly all of the level, or one of
// few boxes, is opened at once. The changes of a step are drawn node by node in between.
#include "viz/pictures/pass_view.h"

#include <algorithm>
#include <set>

namespace uopscope {
namespace {

constexpr size_t kMostBoxes = 30;
/// With fewer boxes than this, the largest layer is opened.
constexpr size_t kFew = 6;
/// A layer with this share of a level is opened.
constexpr double kMostOfIt = 0.7;
/// More changes of a step than this stay in their boxes, which then show that they change.
constexpr size_t kMostChanges = 16;

} // namespace

bool PassView::inside(uint32_t group, uint32_t level) const {
  if (level == kNoSlot) return true;
  for (; group != kNoSlot; group = groups_[group].parent)
    if (group == level) return true;
  return false;
}

// A level that this pass does not have is looked for by the levels around it.
uint32_t PassView::levelShown() const {
  for (std::string path = arrangement_.level; !path.empty();) {
    for (uint32_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].path == path) return g;
    const size_t cut = path.rfind('/');
    path = cut == std::string::npos ? std::string() : path.substr(0, cut);
  }
  return kNoSlot;
}

// Opens layers until there are enough boxes. `joined`: layers that are joined stay so.
void PassView::chooseBoxes(uint32_t level, bool joined) {
  std::vector<std::vector<uint32_t>> children(groups_.size());
  std::vector<uint32_t> top, direct(groups_.size(), 0);
  for (uint32_t g = 0; g < groups_.size(); ++g)
    (groups_[g].parent == kNoSlot ? top : children[groups_[g].parent]).push_back(g);
  size_t total = 0, boxes = 0;
  for (const Slot& s : slots_) {
    if (!s.drawn) continue;
    total += inside(s.group, level);
    if (s.group != kNoSlot) ++direct[s.group];
    if (s.group == level) ++boxes;
  }
  std::set<uint32_t> closed;
  for (const uint32_t g : level == kNoSlot ? top : children[level])
    if (groups_[g].slots) closed.insert(g);
  boxes += closed.size();
  auto roomFor = [&](uint32_t g) { return boxes - 1 + children[g].size() + direct[g] <= kMostBoxes; };
  while (true) {
    uint32_t open = kNoSlot;
    for (const uint32_t g : closed) {
      if (groups_[g].operation || !roomFor(g)) continue;
      const bool most = static_cast<double>(groups_[g].slots) > kMostOfIt * static_cast<double>(total);
      const bool opens = groups_[g].repeats ? !joined : boxes < kFew || most;
      if (opens && (open == kNoSlot || groups_[g].slots > groups_[open].slots)) open = g;
    }
    if (open == kNoSlot) break;
    closed.erase(open);
    closed.insert(children[open].begin(), children[open].end());
    boxes += children[open].size() + direct[open] - 1;
  }
  boxes_.assign(slots_.size(), kNoSlot);
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
    const uint32_t own = slots_[slot].group;
    if (inside(own, level)) {
      for (uint32_t g = own; g != kNoSlot; g = groups_[g].parent)
        if (closed.contains(g)) boxes_[slot] = g;
    } else { // the outermost layer beside the level
      for (uint32_t g = own; g != kNoSlot && !inside(level, g); g = groups_[g].parent) boxes_[slot] = g;
    }
  }
}

// What is drawn: the inside of the level, and what its nodes read or are read by.
void PassView::keepNeighbours(uint32_t level) {
  near_.assign(slots_.size(), false);
  std::set<uint32_t> touched;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) near_[slot] = inside(slots_[slot].group, level);
  // A constant that many layers share says nothing about them, and its wires cross all of the picture.
  std::vector<bool> constant(slots_.size(), false);
  for (const NodeId node : members_) {
    const RawNode& raw = cursor_.raw(node);
    const uint32_t slot = *slotOf(node), group = slots_[slot].group;
    constant[slot] = opFamily(opName(static_cast<Op>(raw.op))) == OpFamily::Movement &&
                     std::ranges::all_of(raw.src, [&](NodeId s) {
                       const auto from = slotOf(s);
                       return folds(s) || (from && constant[*from]);
                     });
    if (constant[slot] && (group == kNoSlot || !groups_[group].operation)) near_[slot] = false;
  }
  if (level == kNoSlot) return;
  std::vector<uint32_t> loose;
  for (const Link& l : links_)
    if (near_[l.from] != near_[l.to] && !constant[l.from]) {
      const uint32_t other = near_[l.from] ? l.to : l.from;
      if (boxes_[other] == kNoSlot)
        loose.push_back(other);
      else
        touched.insert(boxes_[other]);
    }
  for (const uint32_t slot : loose) near_[slot] = true;
  for (uint32_t slot = 0; slot < slots_.size(); ++slot)
    if (boxes_[slot] != kNoSlot && touched.contains(boxes_[slot])) near_[slot] = true;
}

void PassView::layOutLayers(const std::atomic<bool>* cancel) {
  seeds_.clear(), seedSlots_.clear(), was_ = {}, touched_.clear();
  if (lastShown_ >= 0) collectChanges(true);
  const uint32_t level = levelShown();
  for (const bool joined : {false, true}) {
    chooseBoxes(level, joined);
    keepNeighbours(level);
    if (seeds_.size() + seedSlots_.size() <= kMostChanges)
      for (const NodeId node : seeds_)
        if (const auto slot = slotOf(node)) boxes_[*slot] = kNoSlot, near_[*slot] = true;
    if (seeds_.size() + seedSlots_.size() <= kMostChanges)
      for (const uint32_t slot : seedSlots_) boxes_[slot] = kNoSlot, near_[slot] = true;
    if (arrangement_.kept != kNoNode)
      if (const auto slot = slotOf(arrangement_.kept)) boxes_[*slot] = kNoSlot, near_[*slot] = true;
    layOut(cancel);
    if ((cancel && cancel->load(std::memory_order_relaxed)) || fits()) return;
  }
}

void PassView::nameLevels(Picture& picture) const {
  for (uint32_t g = levelShown(); g != kNoSlot; g = groups_[g].parent)
    picture.levels.insert(picture.levels.begin(), {groups_[g].path, groups_[g].title});
  for (const PictureNode& n : picture.nodes)
    if (n.id >= kFirstGroupId)
      picture.layers.emplace(n.id, groups_[static_cast<size_t>(n.id - kFirstGroupId)].path);
  picture.outside = std::exchange(picture.elsewhere, 0);
}

} // namespace uopscope
