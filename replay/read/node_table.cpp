// Reads each page with one range query. It checks all data of the file once, here: ids in range, sources
// before users, known operations, readable arguments.
#include "replay/read/node_table.h"

#include "engine/base/error.h"
#include "replay/read/block_kinds.h"
#include "replay/read/interrupt.h"
#include "replay/schema/leb128.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {
/// Largest id in a small table; a larger id is an attack on memory.
constexpr int64_t kMaxNumber = 1 << 24;
/// Most nodes in a block: twice the number that any version wrote.
constexpr int64_t kMaxBlock = 2048;
} // namespace

NodeTable::NodeTable(const Database& db)
    : db_(db), blocks_(db.pragma("user_version") >= 2),
      selectNodes_(db.prepare(
          blocks_ ? fmt::format(
                        "SELECT first, count, kinds, src, {} FROM node_block WHERE first BETWEEN coalesce("
                        "(SELECT max(first) FROM node_block WHERE first <= ?1), 1) AND ?2 ORDER BY first",
                        usedColumns(db))
                  : "SELECT id, kind, src FROM node WHERE id BETWEEN ? AND ? ORDER BY id")),
      selectKind_(db.prepare("SELECT op, dtype, arg, tag FROM kind WHERE id = ?")),
      selectArg_(db.prepare("SELECT value FROM arg WHERE id = ?")),
      selectDtype_(db.prepare("SELECT name FROM dtype WHERE id = ?")) {
  ops_.assign(256, Op::NOOP);
  opKnown_.assign(256, false);
  opNames_.assign(256, {});
  for (Statement s = db.prepare("SELECT id, name FROM op"); s.step();) {
    int64_t id = s.integer(0);
    if (id < 0 || id > 255)
      throw Error(
          ErrorKind::File,
          fmt::format("{}: the number {} of an operation is not valid; the file is damaged", db.path(), id));
    opNames_[static_cast<size_t>(id)] = s.text(1);
    if (auto op = opFromName(s.text(1))) {
      ops_[static_cast<size_t>(id)] = *op;
      opKnown_[static_cast<size_t>(id)] = true;
    }
  }
}

void NodeTable::damaged(NodeId id, std::string_view what) const {
  throw Error(ErrorKind::File,
              fmt::format("{}: node {}: {}; the file is damaged or cut off", db_.path(), id, what));
}

Op NodeTable::engineOp(uint8_t traceOp) const {
  if (!opKnown_[traceOp])
    throw Error(ErrorKind::File,
                fmt::format("{}: operation \"{}\" (number {}) is unknown to this uopscope; the trace is from "
                            "another version or damaged",
                            db_.path(), opNames_[traceOp], traceOp));
  return ops_[traceOp];
}

const RawNode& NodeTable::raw(NodeId id) {
  if (id == kNoNode || id >= kFirstViewNode) damaged(id, "there is no such node");
  Page& page = load(id / kPage);
  NodeId at = id % kPage;
  if (at >= page.filled) damaged(id, "there is no such node");
  return page.nodes[at];
}

NodeTable::Page& NodeTable::load(NodeId number) {
  if (number >= pages_.size()) {
    if (number * kPage > count()) damaged(number * kPage, "there is no such node");
    pages_.resize(number + 1);
  }
  if (pages_[number] && pages_[number]->filled == kPage) return *pages_[number];
  bool fresh = !pages_[number];
  if (fresh) {
    pages_[number] = std::make_unique<Page>();
    pages_[number]->nodes.resize(kPage);
    pages_[number]->kinds.resize(kPage);
    pages_[number]->filled = number == 0 ? 1 : 0;
  } else if (!pages_[number]->stale) {
    return *pages_[number];
  }
  Page& page = *pages_[number];
  page.stale = false;
  NodeId base = number * kPage;
  selectNodes_.reset(); // an error may have cut the last reading short
  selectNodes_.bind(1, int64_t{base + page.filled}).bind(2, int64_t{base + kPage - 1});
  try {
    if (blocks_)
      loadBlocks(page, base);
    else
      loadRows(page, base);
  } catch (const Error&) {
    // What was stopped is read on when it is asked for again; what is damaged stays damaged.
    page.stale = wasStopped(db_);
    throw;
  }
  return page;
}

void NodeTable::add(Page& page, NodeId id, int64_t kindId, std::span<const NodeId> sources) {
  if (kindId <= 0 || kindId > kMaxNumber) damaged(id, "its kind is not valid");
  auto* kept = static_cast<NodeId*>(sources_.allocate(sources.size() * sizeof(NodeId)));
  std::copy(sources.begin(), sources.end(), kept);
  RawNode node = kind(static_cast<uint32_t>(kindId));
  node.src = {kept, sources.size()};
  page.kinds[page.filled] = static_cast<uint32_t>(kindId);
  page.nodes[page.filled++] = node;
}

void NodeTable::loadBlocks(Page& page, NodeId base) {
  std::vector<NodeId> sources;
  while (selectNodes_.step()) {
    int64_t first = selectNodes_.integer(0), count = selectNodes_.integer(1);
    KindsOfBlock kinds(count, selectNodes_.blob(2), selectNodes_.integer(5), selectNodes_.blob(4));
    Leb128Reader in(selectNodes_.blob(3));
    if (first < 1 || count < 1 || count > kMaxBlock || first + count > kFirstViewNode || !kinds.valid()) {
      selectNodes_.reset();
      damaged(base, "the block of nodes it is in is not valid");
    }
    for (int64_t k = 0; k < count; ++k) {
      auto id = static_cast<NodeId>(first + k);
      sources.clear();
      bool valid = true;
      for (uint64_t number = 1; valid && (number & 1);) {
        valid = in.next(number) && (number == 0 || number / 2 > 0) && number / 2 < id;
        if (valid && number) sources.push_back(id - static_cast<NodeId>(number / 2));
      }
      if (!valid) {
        selectNodes_.reset();
        damaged(id, "its sources are not valid");
      }
      if (id < base + page.filled || id >= base + kPage) continue;
      if (id != base + page.filled) {
        selectNodes_.reset();
        damaged(base + page.filled, "it is missing");
      }
      add(page, id, kinds[static_cast<size_t>(k)], sources);
    }
  }
}

void NodeTable::loadRows(Page& page, NodeId base) {
  std::vector<NodeId> sources;
  while (selectNodes_.step()) {
    auto id = static_cast<NodeId>(selectNodes_.integer(0));
    Leb128Reader in(selectNodes_.blob(2));
    sources.clear();
    bool valid = id == base + page.filled;
    while (valid && !in.atEnd()) {
      uint64_t back = 0;
      valid = in.next(back) && back > 0 && back < id;
      if (valid) sources.push_back(id - static_cast<NodeId>(back));
    }
    if (!valid) {
      selectNodes_.reset();
      damaged(id, "its row is not valid");
    }
    add(page, id, selectNodes_.integer(1), sources);
  }
}

const RawNode& NodeTable::kind(uint32_t id) {
  if (id < kinds_.size() && kinds_[id]) return *kinds_[id];
  RawNode kind;
  bool valid = selectKind_.bind(1, int64_t{id}).step();
  if (valid) {
    int64_t op = selectKind_.integer(0), dtype = selectKind_.integer(1), arg = selectKind_.integer(2),
            tag = selectKind_.integer(3);
    valid = op >= 0 && op < 256 && dtype > 0 && dtype <= kMaxNumber && arg >= 0 && arg <= kMaxNumber &&
            tag >= 0 && tag <= kMaxNumber;
    kind = {static_cast<uint8_t>(op),
            static_cast<uint32_t>(dtype),
            static_cast<uint32_t>(arg),
            static_cast<uint32_t>(tag),
            {}};
    selectKind_.reset();
  }
  if (!valid)
    throw Error(ErrorKind::File,
                fmt::format("{}: kind {} of nodes is missing or not valid; the file is damaged or cut off",
                            db_.path(), id));
  if (id >= kinds_.size()) kinds_.resize(id + id / 2 + 16);
  return *(kinds_[id] = kind);
}

const Arg& NodeTable::arg(uint32_t id) {
  static const Arg none;
  if (id == 0) return none;
  if (id < args_.size() && args_[id]) return *args_[id];
  if (!selectArg_.bind(1, int64_t{id}).step())
    throw Error(ErrorKind::File,
                fmt::format("{}: argument {} is missing; the file is damaged or cut off", db_.path(), id));
  Arg value;
  std::string text(selectArg_.text(0));
  // The first recorder for tinygrad wrote an operation as Python prints it.
  if (text.starts_with("Ops.") && opFromName(std::string_view(text).substr(4))) text.replace(0, 4, "@");
  try {
    value = Arg::decode(text);
  } catch (const Error& e) {
    selectArg_.reset();
    throw Error(ErrorKind::File,
                fmt::format("{}: argument {} (\"{}\") cannot be read: {}; the file is damaged", db_.path(),
                            id, text.substr(0, 80), e.what()));
  }
  selectArg_.reset();
  if (id >= args_.size()) args_.resize(id + id / 2 + 16);
  return *(args_[id] = value);
}

DType NodeTable::dtype(uint32_t id) {
  if (id < dtypes_.size() && dtypes_[id]) return *dtypes_[id];
  if (!selectDtype_.bind(1, int64_t{id}).step())
    throw Error(ErrorKind::File,
                fmt::format("{}: data type {} is missing; the file is damaged or cut off", db_.path(), id));
  std::string name(selectDtype_.text(0));
  selectDtype_.reset();
  auto value = dtypes::parse(name);
  if (!value)
    throw Error(ErrorKind::File, fmt::format("{}: data type {} (\"{}\") cannot be read; the file is damaged",
                                             db_.path(), id, name.substr(0, 80)));
  if (id >= dtypes_.size()) dtypes_.resize(id + 16);
  dtypes_[id] = value;
  return *value;
}

NodeFields NodeTable::spellOut(NodeId id, const RawNode& raw) {
  return {id, engineOp(raw.op), dtype(raw.dtype), arg(raw.arg), arg(raw.tag), raw.src};
}

NodeId NodeTable::count() {
  Statement s = db_.prepare(blocks_ ? "SELECT max(first + count - 1) FROM (SELECT first, count FROM "
                                      "node_block ORDER BY first DESC LIMIT 1)"
                                    : "SELECT max(id) FROM node");
  int64_t top = s.step() ? s.integer(0) : 0;
  if (top < 0 || top >= kFirstViewNode) damaged(0, "ids are out of range");
  return static_cast<NodeId>(top);
}

void NodeTable::refresh() {
  for (auto& page : pages_)
    if (page && page->filled < kPage) page->stale = true;
}

std::vector<NodeId> NodeTable::toposort(NodeId root) {
  if (root == kNoNode) return {};
  std::vector<NodeId> out, stack{root};
  std::vector<uint8_t> state(root + 1); // sources have smaller ids
  while (!stack.empty()) {
    NodeId id = stack.back();
    if (state[id] == 2) {
      stack.pop_back();
      continue;
    }
    if (state[id] == 1) {
      state[id] = 2;
      out.push_back(id);
      stack.pop_back();
      continue;
    }
    state[id] = 1;
    auto src = raw(id).src;
    for (size_t i = src.size(); i-- > 0;)
      if (!state[src[i]]) stack.push_back(src[i]);
  }
  return out;
}

} // namespace uopscope
