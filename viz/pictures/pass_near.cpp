// The small picture of a step: its changes and the nodes nearest to them, as much as is readable in the pane,
// and the map that shows their place in the graph.
//
// Consecutive steps share a layout where all their changes fit into one picture: no node moves while a person
// steps through such a block. Blocks are cut out of the pass by position alone (steps 1 to 8, 9 to 16 ...; 1
// to 4 ...), so a step looks the same from either direction. A graph that fits is drawn whole. Otherwise
// short expressions that no step touches are written into labels. If that does not suffice, rings of nodes
// are added around the changes, sources before users, until the layout would shrink below kReadable.
#include "viz/pictures/labels.h"
#include "viz/pictures/pass_view.h"

#include <algorithm>
#include <unordered_map>

namespace uopscope {
namespace {

/// Zoom at which labels are easily readable.
constexpr float kReadable = 0.75f;
/// A graph of up to this many nodes is tried as a whole; larger ones never fit.
constexpr size_t kTried = 90;
/// Larger graphs take too long to lay out for the map of every block; their map shows the pass.
constexpr size_t kMapped = 400;
/// Sizes of blocks to try, longest first; and the longest pass that is tried as one block.
constexpr int64_t kBlocks[] = {8, 4, 2}, kWholePass = 48;
/// Numbers of nodes in a small picture, tried from the largest on.
constexpr size_t kBudgets[] = {48, 36, 27, 20, 15, 12, 9, 6, 4};
/// Numbers of nodes around the changes of a block, and the most changes that a block may have.
constexpr size_t kAround[] = {12, 6, 2}, kMostChanged = 40;
/// Neighbourhood limits: a node with more users than kCrowd adds none of them; of many sources the first
/// kFirstSources are added.
constexpr size_t kCrowd = 6, kFirstSources = 10;
/// Most characters of an expression in a label.
constexpr size_t kShort = 18;

} // namespace

bool PassView::fits() const {
  return width_ * kReadable <= std::max(200.0f, arrangement_.paneWidth - kPaneMargin) &&
         height_ * kReadable <= std::max(160.0f, arrangement_.paneHeight - kPaneMargin);
}

bool PassView::sameBlock(const Arrangement& arrangement) const {
  if (!arrangement.near() || !arrangement_.near() || arrangement.firstStep != arrangement.lastStep)
    return false;
  Arrangement same = arrangement;
  same.firstStep = arrangement_.firstStep, same.lastStep = arrangement_.lastStep;
  const int64_t step = std::max<int64_t>(1, arrangement.lastStep);
  return same == arrangement_ && arrangement_.firstStep == arrangement_.lastStep && firstShown_ <= step &&
         step <= lastShown_;
}

void PassView::layOutNear(const std::atomic<bool>* cancel) {
  auto cancelled = [&] { return cancel && cancel->load(std::memory_order_relaxed); };
  const int64_t first = arrangement_.firstStep, last = arrangement_.lastStep;
  mapped_ = false;
  for (Slot& s : slots_) s.home = s.passHome, s.homeWidth = s.passWidth, s.homeHeight = s.passHeight;
  if (first == last) {
    const int64_t step = std::max<int64_t>(1, last);
    const auto drawn = static_cast<size_t>(std::ranges::count_if(slots_, &Slot::drawn));
    if (steps() <= kWholePass && drawn <= kTried &&
        layOutBlock(1, std::max<int64_t>(1, steps()), false, cancel))
      return;
    if (drawn <= kMapped)
      for (const int64_t size : kBlocks) {
        const int64_t start = (step - 1) / size * size + 1;
        if (cancelled() || layOutBlock(start, std::min(start + size - 1, steps()), true, cancel)) return;
      }
  }
  layOutBlock(first, last, true, cancel);
}

// Lays out one block. False where its changes are not readable in one picture; a single step, or a range that
// was asked for, always succeeds.
bool PassView::layOutBlock(int64_t first, int64_t last, bool part, const std::atomic<bool>* cancel) {
  const bool asked = first == arrangement_.firstStep && last == arrangement_.lastStep;
  firstShown_ = first, lastShown_ = last;
  near_.clear(), nearNodes_ = {};
  collectChanges(asked);
  const auto awakeSlots =
      static_cast<size_t>(std::ranges::count_if(slots_, [&](const Slot& s) { return s.drawn && awake(s); }));
  auto cancelled = [&] { return cancel && cancel->load(std::memory_order_relaxed); };
  const bool tried = awakeSlots <= kTried;
  for (const bool inLabels : {false, true}) {
    if (!tried && (inLabels || mapped_ || awakeSlots > kMapped)) continue;
    foldExpressions(inLabels);
    makeLanes();
    layOut(cancel);
    if (cancelled()) return true;
    if (!mapped_) {
      mapped_ = true;
      for (Slot& s : slots_)
        if (s.visible) s.home = s.centre, s.homeWidth = s.width, s.homeHeight = s.height;
    }
    if (fits()) return true;
  }
  if (!part) return false;
  foldExpressions(true);
  makeLanes();
  auto grow = [&](size_t most) {
    findNear(most);
    layOut(cancel);
    return cancelled() || fits();
  };
  if (asked) return std::ranges::any_of(kBudgets, grow) || true;
  return seeds_.size() <= kMostChanged &&
         std::ranges::any_of(kAround, [&](size_t around) { return grow(seeds_.size() + around); });
}

void PassView::collectChanges(bool asOne) {
  seeds_.clear(), seedSlots_.clear(), was_ = {};
  touched_.assign(slots_.size(), 0);
  auto touch = [&](NodeId node, Mark mark, int64_t step) {
    if (const auto slot = slotOf(node))
      touched_[*slot] = (touched_[*slot] ^ static_cast<uint64_t>(step * 4 + static_cast<int64_t>(mark))) *
                        0x9e3779b97f4a7c15ull;
  };
  auto collect = [&](const GraphDiff& diff, int64_t step) {
    const size_t before = seeds_.size();
    auto seed = [&](NodeId node) {
      if (!folds(node)) seeds_.push_back(node);
    };
    auto gone = [&](NodeId node) {
      if (const auto slot = slotOf(node)) seedSlots_.push_back(*slot);
      touch(node, Mark::Removed, step);
    };
    NodeMap<bool> replaced;
    for (const auto& c : diff.changed) {
      touch(c.after, c.rewritten ? Mark::Added : Mark::Changed, step);
      if (!c.rewritten) continue;
      replaced[c.before] = true;
      was_[c.after] = c.before;
      gone(c.before);
      seed(c.after);
    }
    for (NodeId node : diff.added) seed(node), touch(node, Mark::Added, step);
    for (NodeId node : diff.removed) gone(node);
    // A node that became a constant is written into its users' labels, so the users are shown.
    if (seeds_.size() > before) return;
    for (const auto& c : diff.changed)
      if (!c.rewritten &&
          std::ranges::any_of(cursor_.raw(c.before).src, [&](NodeId s) { return replaced.contains(s); }))
        seed(c.after);
  };
  const int64_t to = std::clamp<int64_t>(lastShown_, 0, steps());
  const int64_t from = std::clamp<int64_t>(firstShown_ - 1, 0, to);
  if (asOne) {
    if (from < to) collect(cursor_.diff(from, to), to);
  } else {
    for (int64_t k = from; k < to; ++k) collect(cursor_.diff(k, k + 1), k + 1);
  }
}

// Expressions over loops that no step touches are easier to read in their users' labels.
void PassView::foldExpressions(bool on) {
  inLabels_.assign(slots_.size(), false);
  if (!on || !options_.foldConstants) return;
  const int64_t to = std::clamp<int64_t>(lastShown_, 0, steps());
  const NodeId root = cursor_.rootAt(to);
  for (NodeId node : cursor_.graphAt(to)) {
    const auto slot = slotOf(node);
    if (!slot || touched_[*slot] || node == root || node == arrangement_.kept || folds(node) ||
        arrangement_.shown.contains(*slot))
      continue;
    const NodeFields n = cursor_.fields(node);
    inLabels_[*slot] = mayBeHub(n.op) || isShortExpression(read_, n, kShort);
  }
}

void PassView::findNear(size_t most) {
  near_.assign(slots_.size(), false);
  nearNodes_ = {};
  const std::vector<NodeId>& graph = cursor_.graphAt(std::clamp<int64_t>(lastShown_, 0, steps()));
  NodeMap<bool> present;
  std::unordered_map<NodeId, std::vector<NodeId>> users;
  for (NodeId node : graph) {
    present[node] = true;
    if (!hidesInLabel(node))
      for (NodeId s : cursor_.raw(node).src)
        if (!hidesInLabel(s)) users[s].push_back(node);
  }
  size_t count = 0;
  std::vector<NodeId> ring;
  std::vector<bool> groupMet(groups_.size(), false);
  auto reveal = [&](NodeId node) {
    const auto slot = slotOf(node);
    if (!slot) {
      nearNodes_[node] = true;
      ++count;
      return;
    }
    near_[*slot] = true;
    const uint32_t group = slots_[*slot].group;
    if (group == UINT32_MAX || !groupMet[group]) ++count;
    if (group == UINT32_MAX || groupMet[group]) return;
    groupMet[group] = true; // all lanes of a group are shown together
    for (size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].group == group) near_[i] = true;
  };
  NodeMap<bool> met;
  auto add = [&](NodeId node) {
    if (met.contains(node) || hidesInLabel(node)) return;
    met[node] = true;
    reveal(node);
    if (present.contains(node)) ring.push_back(node);
  };
  for (NodeId node : seeds_) add(node);
  for (const uint32_t slot : seedSlots_) near_[slot] = true;
  if (arrangement_.kept != kNoNode) add(arrangement_.kept);
  if (ring.empty() && !graph.empty()) add(cursor_.rootAt(std::clamp<int64_t>(lastShown_, 0, steps())));
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
