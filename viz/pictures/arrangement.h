// What a person made of a pass's graph: parts hidden, folded into groups, or put somewhere by hand. Named by
// slots, so that it holds at every step of the pass; but for a step that is laid out alone.
//
//   Arrangement a;  a.hidden.insert(picture.nodes[3].slot);  view.arrange(a);
#pragma once
#include "viz/layout/layered.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

namespace uopscope {

enum class GroupBy : uint8_t { Nothing, Kernel, Loop, Reduce, TensorOp, Line };
constexpr std::string_view kGroupNames[] = {"nothing", "kernel", "loop", "reduce", "tensor", "line"};

struct Arrangement {
  GroupBy groupBy = GroupBy::Nothing;
  bool only = false;                ///< nothing but `shown` is drawn
  std::set<uint32_t> shown, hidden; ///< slots
  std::set<uint32_t> opened;        ///< groups drawn node by node
  std::map<uint32_t, LayoutPoint> pinned;
  /// What these steps show is laid out by itself, without room for the rest of the pass; -1: the whole pass.
  int64_t firstStep = -1, lastStep = -1;
  /// Of those steps as much as a pane of this size shows so that it can be read: what they change, then what
  /// is nearest to it (`shown` in any case, and `kept`, a node); 0: all of it.
  float paneWidth = 0, paneHeight = 0;
  uint32_t kept = 0;
  bool near() const { return lastStep >= 0 && paneWidth > 0 && !only; }
  bool operator==(const Arrangement&) const = default;
  bool plain() const { return *this == Arrangement(); }
};

/// Ids from here on are groups of a picture, not nodes.
constexpr int64_t kFirstGroupId = 0xF0000000;

} // namespace uopscope
