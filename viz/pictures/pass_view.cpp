// A walk over a pass costs (steps x nodes), so kWalkBudget bounds it. Longer passes are sampled at every
// multiple of stride_. A node that exists only between two samples is put beside its neighbours when it is
// drawn.
#include "viz/pictures/pass_view.h"

#include "viz/layout/columns.h"
#include "viz/layout/dot_layout.h"
#include "viz/pictures/labels.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace uopscope {
namespace {

// About half a second of walking.
constexpr int64_t kWalkBudget = 700'000;
// Number of labels per slot that are measured for its size: the first ones, and the last one.
constexpr uint8_t kMeasured = 6;
// A leaf with more users than this is written into their labels.
constexpr uint32_t kHubUsers = 6;

} // namespace

PassView::PassView(Trace& trace, PassId pass, ViewOptions options)
    : trace_(trace), cursor_(trace, pass), options_(options),
      read_([this](NodeId id) { return cursor_.fields(id); }) {}

uint32_t PassView::slotFor(NodeId node) {
  if (const auto known = slotOf(node)) return *known;
  const auto slot = static_cast<uint32_t>(slots_.size());
  slots_.push_back({});
  slotOf_[node] = slot;
  members_.push_back(node);
  return slot;
}

// Moves the occupants of slots from one graph to a later one.
void PassView::follow(const GraphDiff& diff, int64_t from, int64_t to) {
  auto leave = [&](NodeId node) {
    if (const auto slot = slotOf(node); slot && slots_[*slot].occupant == node)
      slots_[*slot].occupant = kNoNode, slots_[*slot].gone = to;
  };
  auto occupy = [&](Slot& slot, NodeId node) {
    slot.occupant = node;
    slot.born = std::min(slot.born, from + 1);
    slot.gone = INT64_MAX;
  };
  for (NodeId n : diff.removed) leave(n);
  for (const auto& c : diff.changed) leave(c.before);
  auto enter = [&](NodeId node, uint32_t wanted) {
    if (const auto known = slotOf(node)) {
      Slot& home = slots_[*known];
      if (home.occupant == node) return;
      if (home.occupant == kNoNode) return occupy(home, node);
      // The node comes back, and its old slot has a new occupant.
      slotOf_[node] = static_cast<uint32_t>(slots_.size());
      slots_.push_back({});
      occupy(slots_.back(), node);
      members_.push_back(node);
      return;
    }
    if (wanted != UINT32_MAX && slots_[wanted].occupant == kNoNode) {
      occupy(slots_[wanted], node);
      slotOf_[node] = wanted;
      members_.push_back(node);
      return;
    }
    const uint32_t slot = slotFor(node);
    occupy(slots_[slot], node);
  };
  // Results of rules come first: where several nodes become one, it stands at the place of the rewrite.
  for (bool rewritten : {true, false})
    for (const auto& c : diff.changed)
      if (c.rewritten == rewritten) enter(c.after, slotFor(c.before));
  for (NodeId n : diff.added) enter(n, UINT32_MAX);
}

const PictureNode& PassView::label(NodeId node) {
  auto it = labels_.find(node);
  if (it != labels_.end()) return it->second;
  if (auto older = olderLabels_.extract(node)) return labels_.insert(std::move(older)).position->second;
  PictureNode box = labelOf(read_, cursor_.fields(node));
  const RawNode& raw = cursor_.raw(node);
  for (uint32_t port = 0; port < raw.src.size(); ++port) {
    const NodeId s = raw.src[port];
    const auto slot = slotOf(s), own = slotOf(node);
    const bool hub = slot && own && quiet(*slot, *own);
    if (folds(s) || hub)
      box.folded.push_back({port, s, foldedText(read_, cursor_.fields(s))});
    else if (inLabel(s) && box.detail.empty())
      box.folded.push_back({port, s, expressionText(read_, s)});
  }
  joinFolded(box.folded);
  measure(box);
  return labels_.emplace(node, std::move(box)).first->second;
}

bool PassView::folds(NodeId node) {
  if (!options_.foldConstants) return false;
  if (const bool* known = folds_.find(node)) return *known;
  return folds_[node] = foldsAlways(read_, cursor_.fields(node));
}

bool PassView::prepare(const std::atomic<bool>* cancel) {
  auto cancelled = [&] { return cancel && cancel->load(std::memory_order_relaxed); };
  const int64_t n = cursor_.steps();
  const auto size = static_cast<int64_t>(cursor_.graphAt(0).size());
  stride_ = std::max<int64_t>(1, n * std::max<int64_t>(size, 50) / kWalkBudget);
  for (NodeId node : cursor_.graphAt(0)) {
    Slot& slot = slots_[slotFor(node)];
    slot.occupant = node, slot.born = 0, slot.gone = INT64_MAX;
  }
  for (int64_t k = 0; k < n;) {
    if (cancelled()) return false;
    const int64_t next = std::min(n, k + stride_);
    follow(cursor_.diff(k, next), k, next);
    k = next;
  }
  setMoments();
  link();
  layOut(cancel);
  for (Slot& slot : slots_)
    slot.passHome = slot.centre, slot.passWidth = slot.width, slot.passHeight = slot.height;
  ready_ = !cancelled();
  return ready_;
}

// Moments begin at births of slots, spread evenly over them.
void PassView::setMoments() {
  std::vector<int64_t> births;
  for (Slot& s : slots_) {
    if (s.born == INT64_MAX) s.born = 0, s.gone = INT64_MAX; // met only as a source
    if (s.born > 0) births.push_back(s.born);
  }
  std::sort(births.begin(), births.end());
  if (std::set<int64_t>(births.begin(), births.end()).size() < kMoments)
    moments_ = std::move(births);
  else
    for (size_t i = 1; i < kMoments; ++i) moments_.push_back(births[i * (births.size() - 1) / kMoments]);
  moments_.erase(std::unique(moments_.begin(), moments_.end()), moments_.end());
}

// Most nodes of a slot are rebuilt with sources in the same slots as before; those add no edge. The hash starts
// far from small numbers: from src.size() + 1, a product of slot 2 and a constant would be 0, as nothing seen.
void PassView::link() {
  std::unordered_set<uint64_t> seen;
  std::vector<uint64_t> last(slots_.size(), 0);
  for (NodeId node : members_) {
    if (folds(node)) continue;
    const uint32_t to = *slotOf(node);
    slots_[to].drawn = true;
    const auto src = cursor_.raw(node).src;
    uint64_t sum = 0x9e3779b97f4a7c15ull + src.size();
    for (NodeId s : src) { // a slot that held a constant draws no edge until something else lives there
      const auto from = folds(s) ? std::nullopt : slotOf(s);
      sum = (sum ^ (sum >> 29) ^ (from ? *from + 1 : 0)) * 0xbf58476d1ce4e5b9ull;
    }
    if (std::exchange(last[to], sum) == sum) continue;
    for (uint32_t port = 0; port < src.size(); ++port)
      if (const auto from = slotOf(src[port]);
          from && *from != to && !folds(src[port]) && seen.insert(key(*from, to)).second)
        links_.push_back({*from, to, port});
  }
  auto edges = std::make_shared<std::vector<std::pair<uint32_t, uint32_t>>>();
  for (const Link& l : links_) edges->emplace_back(l.from, l.to);
  std::sort(edges->begin(), edges->end());
  everyEdge_ = std::move(edges);
}

bool PassView::arrange(const Arrangement& arrangement, const std::atomic<bool>* cancel) {
  const bool arranged = arrangement == arrangement_ || rearrange(arrangement, cancel);
  if (arranged && awaitsDot_) layOutByDot(cancel);
  return arranged && !awaitsDot_;
}

bool PassView::rearrange(const Arrangement& arrangement, const std::atomic<bool>* cancel) {
  const bool inPlace = sameBlock(arrangement);
  const bool regroup = arrangement.groupBy != arrangement_.groupBy;
  arrangement_ = arrangement;
  if (inPlace) return true;
  near_.clear(), nearNodes_ = {};
  inLabels_.clear(), touched_.clear(), was_ = {};
  firstShown_ = arrangement_.firstStep, lastShown_ = arrangement_.lastStep;
  if (regroup || arrangement_.groupBy == GroupBy::Nothing) makeGroups();
  boxes_.clear();
  if (byLayer())
    layOutLayers(cancel);
  else if (arrangement_.near())
    layOutNear(cancel);
  else
    layOut(cancel);
  if (!cancel || !cancel->load(std::memory_order_relaxed)) return true;
  arrangement_.hidden.insert(UINT32_MAX); // incomplete: the next call lays out again
  return false;
}

// Decides which slots are drawn and which are written into their users' labels, and measures their sizes.
std::vector<PassView::Link> PassView::measureSlots(const std::atomic<bool>* cancel) {
  labels_.clear();
  olderLabels_.clear();
  std::vector<uint32_t> users(slots_.size(), 0);
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& s = slots_[i];
    s.hub = false, s.hubUser = UINT32_MAX, s.width = s.height = 0;
    s.visible = s.drawn && !hides(i) && awake(s) && !farSlot(i) && (inLabels_.empty() || !inLabels_[i]);
  }
  std::vector<Link> links;
  for (const Link& l : links_)
    if (slots_[l.from].visible && slots_[l.to].visible) links.push_back(l), ++users[l.from];
  if (options_.foldHubs)
    for (NodeId node : members_) {
      const uint32_t slot = *slotOf(node);
      if (users[slot] > kHubUsers && !slots_[slot].hub) slots_[slot].hub = mayBeHub(cursor_.fields(node).op);
    }
  for (const Link& l : links)
    if (slots_[l.from].hub && slots_[l.from].hubUser == UINT32_MAX) slots_[l.from].hubUser = l.to;

  std::vector<uint8_t> measured(slots_.size(), 0);
  auto size = [&](NodeId node) {
    Slot& s = slots_[*slotOf(node)];
    if (!s.visible || measured[*slotOf(node)]++ >= kMeasured) return;
    const NodeId* before = was_.find(node);
    PictureNode changed;
    if (before) {
      changed = label(node);
      changed.was = titleOf(read_, cursor_.fields(*before));
      measure(changed);
    }
    const PictureNode& box = before ? changed : label(node);
    s.width = std::max(s.width, box.width);
    s.height = std::max(s.height, box.height);
  };
  for (NodeId node : cursor_.graphAt(steps()))
    if (slotOf(node) && !folds(node)) size(node);
  for (NodeId node : members_) {
    if (folds(node)) continue;
    if (cancel && cancel->load(std::memory_order_relaxed)) break;
    size(node);
  }
  return links;
}

// Visible slots, and each collapsed group as one box.
PassView::Boxes PassView::boxesOf(const std::vector<Link>& links) const {
  Boxes b{{},
          {},
          {},
          std::vector<uint32_t>(slots_.size(), UINT32_MAX),
          std::vector<uint32_t>(groups_.size(), UINT32_MAX)};
  auto moment = [&](int64_t step) {
    return static_cast<uint8_t>(std::upper_bound(moments_.begin(), moments_.end(), step) - moments_.begin());
  };
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.visible) continue;
    if (const uint32_t group = boxOf(i); group != UINT32_MAX) {
      uint32_t& n = b.ofGroup[group];
      if (n == UINT32_MAX) {
        n = static_cast<uint32_t>(b.nodes.size());
        b.nodes.push_back({groups_[group].width, groups_[group].height, kMoments - 1, 0});
      }
      b.nodes[n].born = std::min(b.nodes[n].born, moment(slot.born));
      b.nodes[n].gone = std::max(b.nodes[n].gone, moment(slot.gone));
      b.ofSlot[i] = n;
      continue;
    }
    b.ofSlot[i] = static_cast<uint32_t>(b.nodes.size());
    b.nodes.push_back({slot.width, slot.height, moment(slot.born), moment(slot.gone)});
  }
  std::unordered_set<uint64_t> joined;
  for (const Link& l : links) {
    if (quiet(l.from, l.to)) continue;
    const bool folded = collapsed(l.from) || collapsed(l.to);
    const uint32_t from = b.ofSlot[l.from], to = b.ofSlot[l.to];
    if (from == to || (folded && !joined.insert(key(from, to)).second)) continue;
    b.edges.push_back({from, to, l.port});
    b.keys.push_back(key(endOf(l.from), endOf(l.to)));
  }
  return b;
}

void PassView::layOut(const std::atomic<bool>* cancel) {
  const Boxes boxes = boxesOf(measureSlots(cancel));
  if (cancel && cancel->load(std::memory_order_relaxed)) return;
  LayoutOptions o;
  o.leftToRight = options_.leftToRight;
  o.cancel = cancel;
  Layout layout = layoutLayered(boxes.nodes, boxes.edges, o);
  if (layout.cancelled) return;
  if (byLayer() && !options_.leftToRight)
    setInColumns(layout, boxes.nodes, boxes.edges, arrangement_.paneWidth - kPaneMargin,
                 arrangement_.paneHeight - kPaneMargin);
  take(std::move(layout), boxes);
  awaitsDot_ = options_.layout == LayoutBy::Dot;
  layoutNote_.clear();
}

// Small pictures are found by many layered layouts. Only the one that is shown is laid out by dot, which takes longer.
void PassView::layOutByDot(const std::atomic<bool>* cancel) {
  const Boxes boxes = boxesOf(measureSlots(cancel));
  LayoutOptions o;
  o.leftToRight = options_.leftToRight;
  o.cancel = cancel;
  auto layout = layoutDot(boxes.nodes, boxes.edges, o, layoutNote_);
  if (layout && layout->cancelled) return;
  awaitsDot_ = false;
  if (layout) take(std::move(*layout), boxes);
}

void PassView::take(Layout layout, const Boxes& boxes) {
  static std::atomic<uint64_t> layouts{0};
  layout_ = ++layouts;
  for (uint32_t i = 0; i < slots_.size(); ++i)
    if (boxes.ofSlot[i] != UINT32_MAX) slots_[i].centre = layout.centres[boxes.ofSlot[i]];
  for (uint32_t g = 0; g < groups_.size(); ++g)
    if (boxes.ofGroup[g] != UINT32_MAX) groups_[g].centre = layout.centres[boxes.ofGroup[g]];
  for (const auto& [slot, at] : arrangement_.pinned)
    if (slot < slots_.size()) slots_[slot].centre = at;
  auto bends = std::make_shared<Bends>();
  for (size_t e = 0; e < boxes.edges.size(); ++e) {
    const uint64_t ends = boxes.keys[e];
    const auto from = static_cast<uint32_t>(ends >> 32), to = static_cast<uint32_t>(ends);
    if (!layout.bends[e].empty() && !arrangement_.pinned.contains(from) && !arrangement_.pinned.contains(to))
      bends->emplace(ends, std::move(layout.bends[e]));
  }
  bends_ = std::move(bends);
  curved_ = layout.curved;
  width_ = layout.width;
  height_ = layout.height;
  straight_ = layout.straightEdges;
}

NodeId PassView::counterpart(NodeId node, const Picture& picture) {
  if (node == kNoNode || picture.find(node)) return node;
  if (const auto slot = slotOf(node))
    for (const PictureNode& n : picture.nodes)
      if (slotOf(static_cast<NodeId>(n.id)) == slot) return static_cast<NodeId>(n.id);
  try {
    const NodeId image = cursor_.imageAt(node, picture.step);
    if (picture.find(image)) return image;
  } catch (const Error&) {
    // A node of a different pass has no image here.
  }
  return kNoNode;
}

} // namespace uopscope
