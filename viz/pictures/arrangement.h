// A person's changes to a pass's graph: parts hidden, folded into groups, or moved by hand. It names slots,
// so it holds at every step of the pass, except for a step that is laid out alone.
//
//   Arrangement a;  a.hidden.insert(picture.nodes[3].slot);  view.arrange(a);
#pragma once
#include "viz/layout/layered.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace uopscope {

enum class GroupBy : uint8_t { Nothing, Kernel, Loop, Reduce, TensorOp, Line, Layer };
constexpr std::string_view kGroupNames[] = {"nothing", "kernel", "loop", "reduce", "tensor", "line", "layer"};

struct Arrangement {
  GroupBy groupBy = GroupBy::Nothing;
  /// With GroupBy::Layer: the layer whose inside is drawn, "model/blocks.3"; empty: the whole model.
  std::string level = {};
  bool only = false;                ///< only `shown` is drawn
  std::set<uint32_t> shown, hidden; ///< slots
  std::set<uint32_t> opened;        ///< groups drawn node by node
  std::map<uint32_t, LayoutPoint> pinned;
  /// Only these steps are laid out, without room for the rest of the pass; -1: the whole pass.
  int64_t firstStep = -1, lastStep = -1;
  /// Size of the pane. It shows as much of these steps as is readable: their changes first, then the nearest
  /// nodes; in any case `shown` and the node `kept`. 0: everything.
  float paneWidth = 0, paneHeight = 0;
  uint32_t kept = 0;
  bool near() const { return lastStep >= 0 && paneWidth > 0 && !only && groupBy != GroupBy::Layer; }
  bool operator==(const Arrangement&) const = default;
  bool plain() const { return *this == Arrangement(); }
};

/// Ids from here on are groups of a picture, not nodes.
constexpr int64_t kFirstGroupId = 0xF0000000;

} // namespace uopscope
