// Nodes of a trace by id, loaded page by page and kept. Sources always have smaller ids, so graphs are
// acyclic by construction, whatever the file contains.
//
//   NodeFields n = trace.nodes().fields(id);   // n.op, n.dtype, n.arg, n.src
#pragma once
#include "engine/uop/uop.h"
#include "replay/schema/database.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace uopscope {

using NodeId = uint32_t;
constexpr NodeId kNoNode = 0;
/// Ids from here on belong to a Cursor: nodes rebuilt between two steps, which the engine never held.
constexpr NodeId kFirstViewNode = 0x80000000u;

/// A node with its texts resolved. `src` is valid as long as the table (or cursor) it came from.
struct NodeFields {
  NodeId id = kNoNode;
  Op op = Op::NOOP;
  DType dtype;
  Arg arg, tag;
  std::span<const NodeId> src;
};

/// A source of node fields: a NodeTable or a Cursor.
using NodeReader = std::function<NodeFields(NodeId)>;

/// A node as numbers of the trace; two nodes are equal when these are equal.
struct RawNode {
  uint8_t op = 0;
  uint32_t dtype = 0, arg = 0, tag = 0;
  std::span<const NodeId> src;
};

class NodeTable {
public:
  explicit NodeTable(const Database& db);
  /// Throws Error(File) for an id that is not in the trace.
  const RawNode& raw(NodeId id);
  NodeFields fields(NodeId id) { return spellOut(id, raw(id)); }
  NodeReader reader() {
    return [this](NodeId id) { return fields(id); };
  }
  NodeFields spellOut(NodeId id, const RawNode& raw);
  Op op(NodeId id) { return engineOp(raw(id).op); }
  Op engineOp(uint8_t traceOp) const;
  /// Number of the node's row in `kind`.
  int64_t kindOf(NodeId id) {
    raw(id);
    return pages_[id / kPage]->kinds[id % kPage];
  }
  /// Highest id in the file, as of the last count().
  NodeId count();
  /// To be called after the trace grew: pages at the end are read again when needed.
  void refresh();
  /// Nodes reachable from root, sources first, root last.
  std::vector<NodeId> toposort(NodeId root);
  /// Number of nodes reachable.
  size_t graphSize(NodeId root) { return toposort(root).size(); }

private:
  static constexpr NodeId kPage = 1024;
  struct Page {
    std::vector<RawNode> nodes;
    std::vector<uint32_t> kinds;
    NodeId filled = 0;
    bool stale = false;
  };
  Page& load(NodeId page);
  void loadRows(Page& page, NodeId base);   ///< version 1: a row for each node
  void loadBlocks(Page& page, NodeId base); ///< since version 2: a row for some hundred nodes
  void add(Page& page, NodeId id, int64_t kindId, std::span<const NodeId> sources);
  const RawNode& kind(uint32_t id);
  const Arg& arg(uint32_t id);
  DType dtype(uint32_t id);
  [[noreturn]] void damaged(NodeId id, std::string_view what) const;

  const Database& db_;
  const bool blocks_;
  Statement selectNodes_, selectKind_, selectArg_, selectDtype_;
  Arena sources_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<Op> ops_;
  std::vector<bool> opKnown_;
  std::vector<std::string> opNames_;
  std::vector<std::optional<RawNode>> kinds_; ///< without sources
  std::vector<std::optional<Arg>> args_;
  std::vector<std::optional<DType>> dtypes_;
};

} // namespace uopscope
