// One pass as consistent pictures: one layout, made from all graphs of the pass, serves every step, so that
// no node moves between steps.
//
// A slot is a place in the layout. A node that replaces another (by a rule, or because it was rebuilt after a
// source changed) takes its slot. Nodes that exist at the same time never share a slot. Slots that are never
// occupied at the same step may share a place. The layout is thus about as large as the largest graph of the
// pass, not as all graphs together. A picture depends only on the pass and the step, not on the steps visited
// before.
//
//   PassView view(trace, pass, {});
//   view.prepare();
//   PicturePtr now = view.at(12);          // the changes of step 12; at(12, 5): those of steps 8 to 12
#pragma once
#include "replay/read/cursor.h"
#include "replay/read/print.h"
#include "viz/pictures/arrangement.h"
#include "viz/pictures/picture.h"

#include <atomic>
#include <memory>

namespace uopscope {

/// No slot, node or group.
constexpr uint32_t kNoSlot = UINT32_MAX;
/// Margin of a picture in its pane.
constexpr float kPaneMargin = 48;

/// Who lays out: our layered layout, or Graphviz' dot.
enum class LayoutBy : uint8_t { Layered, Dot };

struct ViewOptions {
  bool foldConstants = true, foldHubs = true, leftToRight = false;
  LayoutBy layout = LayoutBy::Layered;
  bool operator==(const ViewOptions&) const = default;
};

class PassView {
public:
  PassView(Trace& trace, PassId pass, ViewOptions options);

  PassId pass() const { return cursor_.pass(); }
  const ViewOptions& options() const { return options_; }
  Cursor& cursor() { return cursor_; }
  int64_t steps() const { return cursor_.steps(); }
  /// Makes slots and layout. False when cancelled: the view must not be used then.
  bool prepare(const std::atomic<bool>* cancel = nullptr);
  /// Hides, groups and pins; lays out again where the arrangement changed. False when cancelled.
  bool arrange(const Arrangement& arrangement, const std::atomic<bool>* cancel = nullptr);
  const Arrangement& arrangement() const { return arrangement_; }
  /// The nodes of a group in the latest picture.
  std::vector<NodeId> groupMembers(int64_t groupId) const;
  /// The graph after `step` steps, with the changes of the last `interval` steps.
  PicturePtr at(int64_t step, int64_t interval = 1);
  /// The node of a picture that corresponds to a node of any other step: the node itself, its image, or the
  /// node in its slot; kNoNode if there is none.
  NodeId counterpart(NodeId node, const Picture& picture);
  /// Distance of the sampled steps; in very long passes the steps in between are not examined.
  int64_t stride() const { return stride_; }
  size_t slotCount() const { return slots_.size(); }

private:
  struct Slot {
    NodeId occupant = kNoNode;
    float width = 0, height = 0;
    LayoutPoint centre;
    LayoutPoint home; ///< its centre on the map, as large as homeWidth x homeHeight
    float homeWidth = 0, homeHeight = 0;
    LayoutPoint passHome; ///< the same in the layout of the whole pass
    float passWidth = 0, passHeight = 0;
    bool drawn = false; ///< it holds a node that is not always written into labels
    bool visible = false;
    bool hub = false;
    uint32_t hubUser = UINT32_MAX; ///< slot of the only user with a drawn edge from this hub
    uint32_t group = UINT32_MAX;
    int64_t born = INT64_MAX, gone = -1; ///< first and last step with content here, ghosts included
  };
  struct Group {
    std::string title, detail;
    OpFamily family = OpFamily::Control;
    LayoutPoint centre;
    float width = 0, height = 0;
    uint32_t slots = 0;
    std::string dtype = {};
    bool lanes = false; ///< the group is one of lanes: pass_lanes.cpp
    // Of layers (pass_layers.cpp):
    std::string path = {};        ///< "model/blocks.3"; the same in every pass
    uint32_t parent = UINT32_MAX; ///< the layer around it
    std::string shape = {};       ///< of its result
    uint32_t repeats = 0;         ///< number of equal layers that it joins; 0: it is a layer itself
    uint32_t depth = 0;
    bool operation = false; ///< a tensor operation: nothing but nodes is inside
  };
  uint32_t slotFor(NodeId node);
  std::optional<uint32_t> slotOf(NodeId node) const {
    const uint32_t* s = slotOf_.find(node);
    return s ? std::optional(*s) : std::nullopt;
  }
  void follow(const GraphDiff& diff, int64_t from, int64_t to);
  void setMoments();
  void link();
  const PictureNode& label(NodeId node);
  bool folds(NodeId node);
  bool inLabel(NodeId node) const {
    const auto slot = inLabels_.empty() ? std::nullopt : slotOf(node);
    return slot && inLabels_[*slot];
  }
  bool hidesInLabel(NodeId node) { return folds(node) || inLabel(node); }
  /// Whether the edge from a source is drawn only on demand.
  bool quiet(uint32_t from, uint32_t to) const { return slots_[from].hub && slots_[from].hubUser != to; }
  static uint64_t key(uint32_t from, uint32_t to) { return static_cast<uint64_t>(from) << 32 | to; }
  /// What edges end at: a slot, or the collapsed group it is in.
  static uint32_t groupEnd(uint32_t group) { return 0x80000000u + group; }
  uint32_t endOf(uint32_t slot) const { return collapsed(slot) ? groupEnd(boxOf(slot)) : slot; }
  struct Link {
    uint32_t from, to, port;
  };
  /// The boxes and edges to lay out, and the box of each slot and group.
  struct Boxes {
    std::vector<LayoutNode> nodes;
    std::vector<LayoutEdge> edges;
    std::vector<uint64_t> keys; ///< by edge: its two ends
    std::vector<uint32_t> ofSlot, ofGroup;
  };
  void layOut(const std::atomic<bool>* cancel);
  bool rearrange(const Arrangement& arrangement, const std::atomic<bool>* cancel);
  void layOutByDot(const std::atomic<bool>* cancel);
  void take(Layout layout, const Boxes& boxes);
  std::vector<Link> measureSlots(const std::atomic<bool>* cancel);
  Boxes boxesOf(const std::vector<Link>& links) const;
  /// A picture in the making: pass_picture.cpp.
  class Draft;
  // Pictures of few steps: pass_near.cpp, pass_lanes.cpp.
  void layOutNear(const std::atomic<bool>* cancel);
  bool layOutBlock(int64_t first, int64_t last, bool part, const std::atomic<bool>* cancel);
  bool sameBlock(const Arrangement& arrangement) const;
  void collectChanges(bool asOne);
  void foldExpressions(bool on);
  void findNear(size_t most);
  void makeLanes();
  void findLanes(const std::vector<NodeId>& graph);
  bool fits() const;
  /// Whether only the map shows the slot, since it is too far from the changes.
  bool farSlot(uint32_t slot) const { return !near_.empty() && !near_[slot]; }
  bool far(NodeId node) const {
    if (near_.empty()) return false;
    const auto slot = slotOf(node);
    return slot ? farSlot(*slot) : !nearNodes_.contains(node);
  }
  void addMap(Picture& picture, const GraphDiff& diff);
  bool hides(uint32_t slot) const {
    return arrangement_.hidden.contains(slot) || (arrangement_.only && !arrangement_.shown.contains(slot));
  }
  /// Whether the slot has content at the steps that are laid out.
  bool awake(const Slot& s) const {
    return lastShown_ < 0 || (s.born <= lastShown_ && s.gone >= firstShown_);
  }
  bool byLayer() const { return arrangement_.groupBy == GroupBy::Layer; }
  /// The group that is drawn in place of the slot; UINT32_MAX: the slot itself is drawn.
  uint32_t boxOf(uint32_t slot) const {
    if (byLayer()) return slot < boxes_.size() ? boxes_[slot] : UINT32_MAX;
    const uint32_t group = slots_[slot].group;
    return group != UINT32_MAX && !arrangement_.opened.contains(group) ? group : UINT32_MAX;
  }
  bool collapsed(uint32_t slot) const { return boxOf(slot) != UINT32_MAX; }
  // Layers of the model as nested groups: pass_layers.cpp; a level of them as a picture: pass_levels.cpp.
  void makeLayers(const std::vector<NodeId>& latest);
  uint32_t addLayer(uint32_t parent, const std::string& name, const std::string& title);
  void placeByUsers(const std::vector<NodeId>& latest);
  void divideLargeOperations(const std::vector<NodeId>& latest);
  void countAndName(const std::vector<NodeId>& latest);
  void joinEqualLayers();
  void layOutLayers(const std::atomic<bool>* cancel);
  void chooseBoxes(uint32_t level, bool joined);
  void keepNeighbours(uint32_t level);
  void nameLevels(Picture& picture) const;
  /// The group whose inside is drawn; UINT32_MAX: all.
  uint32_t levelShown() const;
  /// Whether a group is the level or a part of it.
  bool inside(uint32_t group, uint32_t level) const;
  uint32_t commonLayer(uint32_t a, uint32_t b) const;
  /// All slots, each after its users; `users` by slot.
  std::vector<uint32_t> usersFirst(const std::vector<NodeId>& latest,
                                   std::vector<std::vector<uint32_t>>& users);
  void makeGroups();
  void fold(Picture& picture);
  void groupByRoot(const std::vector<NodeId>& latest, bool reduce);

  Trace& trace_;
  Cursor cursor_;
  ViewOptions options_;
  Arrangement arrangement_;
  std::vector<Group> groups_;
  std::map<uint32_t, std::vector<NodeId>> groupNodes_;
  std::vector<uint32_t> boxes_;              ///< by slot, of layers: the group drawn in its place
  int64_t firstShown_ = -1, lastShown_ = -1; ///< steps that are laid out together; -1: the whole pass
  std::vector<NodeId> seeds_;                ///< nodes that these steps make
  std::vector<uint32_t> seedSlots_;          ///< slots of the nodes that they remove
  NodeMap<NodeId> was_;                      ///< their rewrites: after -> before
  std::vector<uint64_t> touched_;            ///< by slot: a hash of their changes to it; 0: none
  std::vector<bool> inLabels_;               ///< slots whose expressions are written into labels
  bool mapped_ = false;                      ///< the map shows their graph, not the pass
  uint64_t layout_ = 0;
  std::vector<bool> near_;  ///< slots that are drawn; empty: all of them
  NodeMap<bool> nearNodes_; ///< nearby nodes that no sample saw
  NodeReader read_;
  int64_t stride_ = 1;
  std::vector<int64_t> moments_; ///< first steps of moments 1, 2 ...: see LayoutNode::born
  std::vector<Slot> slots_;
  NodeMap<uint32_t> slotOf_;
  std::vector<NodeId> members_; ///< nodes in order of their first appearance
  /// Labels used recently, and those used before them; a label in neither is made again.
  std::unordered_map<NodeId, PictureNode> labels_, olderLabels_;
  NodeMap<bool> folds_;
  std::vector<Link> links_; ///< edges between slots, of all steps
  using Bends = std::unordered_map<uint64_t, std::vector<LayoutPoint>>;
  std::shared_ptr<const Bends> bends_; ///< by key of the two ends, long edges only; pictures share it
  std::shared_ptr<const std::vector<std::pair<uint32_t, uint32_t>>> everyEdge_;
  float width_ = 0, height_ = 0;
  uint32_t straight_ = 0;
  bool curved_ = false;    ///< Layout::curved of the present layout
  bool awaitsDot_ = false; ///< the present layout is layered, and dot's is the chosen one
  std::string layoutNote_;
  bool ready_ = false;
};

} // namespace uopscope
