// A graph ready to be drawn: boxes with their texts, lines with their bends, and the current step's change to
// each. A worker thread makes it; afterwards it is immutable and shared with its painters.
//
//   auto p = std::make_shared<Picture>();
//   p->nodes.push_back({.id = 7, .op = "ADD", .detail = "r0*4+r1", .dtype = "index"});
#pragma once
#include "viz/layout/layered.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace uopscope {

/// The change that the step made to a node or an edge.
enum class Mark : uint8_t { Same, Added, Removed, Changed };

/// Families of operations; each has a colour.
enum class OpFamily : uint8_t {
  Constant,
  Loop,
  Buffer,
  Memory,
  Arithmetic,
  Logic,
  Movement,
  Reduction,
  Vector,
  Control,
  Convert,
  Fault
};
constexpr int kOpFamilyCount = 12;
OpFamily opFamily(std::string_view op);
std::string_view opFamilyName(OpFamily family);

/// A source that is written into the label instead of being drawn: a constant, a node with too many users, a
/// short expression. Adjacent ports with equal sources are joined.
struct FoldedSource {
  uint32_t port = 0;
  int64_t id = 0;
  std::string text;
  uint32_t count = 1; ///< number of ports from `port` on
  std::string ports() const;
};

struct PictureNode {
  int64_t id = 0;
  std::string op, detail, dtype, tag;
  bool dtypeBelow = false; ///< has a line of its own: beside the operation it would make the box wide
  std::string was;         ///< title of the node that the step replaced
  std::vector<FoldedSource> folded;
  OpFamily family = OpFamily::Control;
  Mark mark = Mark::Same;
  bool hub = false; ///< its other users show it in their labels
  bool pinned = false;
  uint32_t users = 0;
  uint32_t slot = UINT32_MAX;                ///< its place in the pass, the same at every step
  uint32_t members = 0;                      ///< of a collapsed group: number of its nodes
  std::vector<uint32_t> slots;               ///< of a collapsed group: its slots
  float x = 0, y = 0, width = 0, height = 0; ///< centre and size
};

struct PictureEdge {
  uint32_t from = 0, to = 0;    ///< indices of nodes
  uint32_t port = 0, ports = 1; ///< place of the arrival among all `ports` arrivals
  Mark mark = Mark::Same;
  bool quiet = false;                 ///< of a hub: drawn only while one of its ends is hovered or selected
  std::span<const LayoutPoint> bends; ///< a part of Picture::bendsOf
  uint32_t times = 1;                 ///< number of wires that run together
  uint32_t number = UINT32_MAX;       ///< position among the user's sources, where it differs from `port`
};

struct LayoutRect {
  float left = 0, top = 0, right = 0, bottom = 0;
};

struct Picture {
  int64_t pass = -1; ///< pictures of one pass share positions
  int64_t step = 0;
  bool alone = false; ///< ... except the picture of a step with a layout of its own
  /// For such a step: every node at its place in the layout of the whole pass, without edges.
  std::shared_ptr<const Picture> map;
  LayoutRect mapView;     ///< the part of the map that this picture shows
  uint32_t elsewhere = 0; ///< nodes of the graph that only the map shows
  // Of a picture by layers (GroupBy::Layer):
  std::vector<std::pair<std::string, std::string>>
      levels; ///< path and title of the level and those around it, outermost first
  std::unordered_map<int64_t, std::string> layers; ///< path of each box
  uint32_t outside = 0;                            ///< nodes that are neither in the level nor beside it
  bool leftToRight = false;
  bool curved = false;    ///< as Layout::curved
  std::string layoutNote; ///< why the layout is not the chosen one; empty if it is
  std::vector<PictureNode> nodes;
  std::vector<PictureEdge> edges;
  float width = 0, height = 0;
  uint64_t layout = 0;     ///< pictures with the same number share positions
  uint32_t graphNodes = 0; ///< nodes of the step's graph without folded constants
  uint32_t foldedConstants = 0, foldedExpressions = 0, hubs = 0, hiddenEdges = 0, straightEdges = 0;
  uint32_t added = 0, removed = 0, changed = 0;
  uint32_t hiddenNodes = 0, groups = 0, groupedNodes = 0;
  std::unordered_map<int64_t, uint32_t> byId;
  std::shared_ptr<const void> bendsOf; ///< owner of the points of `bends`
  uint32_t covered = 0; ///< removed nodes that are not drawn, since later nodes cover their places
  /// Edges from slot to slot over the whole pass, to find hidden neighbours.
  std::shared_ptr<const std::vector<std::pair<uint32_t, uint32_t>>> everySlotEdges;

  const PictureNode* find(int64_t id) const {
    const auto it = byId.find(id);
    return it == byId.end() ? nullptr : &nodes[it->second];
  }
  /// Fills byId and the counts of marks; call once when the nodes are complete.
  void index();
};
using PicturePtr = std::shared_ptr<const Picture>;

/// Joins wires between the same two nodes into one with a count, and spreads the arrivals at a node evenly
/// again.
void joinWires(Picture& picture);

/// Computes the size of a node's box from its texts; the painter uses the same numbers.
void measure(PictureNode& node);

namespace metrics {
constexpr float kPadding = 10, kTitle = 13, kSmall = 11, kMonoAdvance = 0.602f, kTitleAdvance = 0.77f;
constexpr float kTitleLine = 19, kSmallLine = 16, kWasLine = 17, kTop = 6, kBottom = 6, kMinWidth = 74,
                kMaxWidth = 210;
/// A wider title puts the data type below the operation.
constexpr float kWideTitle = 150;
constexpr size_t kMaxChars = 28;
} // namespace metrics

} // namespace uopscope
