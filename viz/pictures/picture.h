// A graph ready to be drawn: boxes with their texts, lines with their bends, and what the current step did to
// each. Made on a worker thread by PictureBuilder, immutable afterwards, shared with whoever draws it.
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

/// What the step did to a node or an edge.
enum class Mark : uint8_t { Same, Added, Removed, Changed };

/// Families of operations that share a colour.
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

/// A source that is written into the label instead of being drawn: a constant, or a node that too many read.
struct FoldedSource {
  uint32_t port = 0;
  int64_t id = 0;
  std::string text;
};

struct PictureNode {
  int64_t id = 0;
  std::string op, detail, dtype, tag;
  std::string was; ///< what stood here before the step replaced it
  std::vector<FoldedSource> folded;
  OpFamily family = OpFamily::Control;
  Mark mark = Mark::Same;
  bool hub = false; ///< its other users show it in their labels
  bool pinned = false;
  uint32_t users = 0;
  uint32_t slot = UINT32_MAX;                ///< its place in the pass, the same at every step
  uint32_t members = 0;                      ///< of a collapsed group: how many nodes it stands for
  float x = 0, y = 0, width = 0, height = 0; ///< centre and size
};

struct PictureEdge {
  uint32_t from = 0, to = 0; ///< indices of nodes
  uint32_t port = 0, ports = 1;
  Mark mark = Mark::Same;
  bool quiet = false; ///< of a hub: drawn only while one of its ends is pointed at or selected
  std::span<const LayoutPoint> bends; ///< lie in Picture::bendsOf
};

struct LayoutRect {
  float left = 0, top = 0, right = 0, bottom = 0;
};

struct Picture {
  int64_t pass = -1; ///< pictures of one pass share positions
  int64_t step = 0;
  bool alone = false; ///< ... but for one of a step that was laid out by itself
  /// Of such a step: every node where it stands in the layout of the whole pass, no edges.
  std::shared_ptr<const Picture> map;
  LayoutRect mapView;     ///< where the nodes of this picture stand on the map
  uint32_t elsewhere = 0; ///< nodes of the graph that are on the map only
  bool leftToRight = false;
  std::vector<PictureNode> nodes;
  std::vector<PictureEdge> edges;
  float width = 0, height = 0;
  uint32_t foldedConstants = 0, hubs = 0, hiddenEdges = 0, straightEdges = 0;
  uint32_t added = 0, removed = 0, changed = 0;
  uint32_t hiddenNodes = 0, groups = 0, groupedNodes = 0;
  std::unordered_map<int64_t, uint32_t> byId;
  std::shared_ptr<const void> bendsOf; ///< what `bends` of edges point into
  uint32_t covered = 0;                ///< removed nodes that are not drawn, since others stand there by now
  /// From slot to slot, of everything the pass goes through: what is hidden can be asked for.
  std::shared_ptr<const std::vector<std::pair<uint32_t, uint32_t>>> everySlotEdges;

  const PictureNode* find(int64_t id) const {
    const auto it = byId.find(id);
    return it == byId.end() ? nullptr : &nodes[it->second];
  }
  /// Fills byId and the counts of marks; call once when the nodes are complete.
  void index();
};
using PicturePtr = std::shared_ptr<const Picture>;

/// Size of a node's box for its texts; the painter draws by the same numbers.
void measure(PictureNode& node);

namespace metrics {
constexpr float kPadding = 10, kTitle = 13, kSmall = 11, kMonoAdvance = 0.602f, kTitleAdvance = 0.77f;
constexpr float kTitleLine = 19, kSmallLine = 16, kTop = 6, kBottom = 6, kMinWidth = 74, kMaxWidth = 290;
constexpr size_t kMaxChars = 38;
} // namespace metrics

} // namespace uopscope
