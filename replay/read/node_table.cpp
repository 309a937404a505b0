// Pages are read with one range query each. Whatever the file holds is checked here, once: ids in range,
// sources before users, known operations, readable arguments.
#include "replay/read/node_table.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {
/// Ids of small tables; more is an attack on memory.
constexpr int64_t kMaxNumber = 1 << 24;
} // namespace

NodeTable::NodeTable(const Database& db)
    : db_(db),
      selectNodes_(db.prepare("SELECT id, kind, src FROM node WHERE id BETWEEN ? AND ? ORDER BY id")),
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
    pages_[number]->filled = number == 0 ? 1 : 0;
  } else if (!pages_[number]->stale) {
    return *pages_[number];
  }
  Page& page = *pages_[number];
  page.stale = false;
  NodeId base = number * kPage;
  selectNodes_.reset(); // where an error cut the last reading short
  selectNodes_.bind(1, int64_t{base + page.filled}).bind(2, int64_t{base + kPage - 1});
  std::vector<NodeId> sources;
  while (selectNodes_.step()) {
    auto id = static_cast<NodeId>(selectNodes_.integer(0));
    int64_t kindId = selectNodes_.integer(1);
    bool valid = id == base + page.filled && kindId > 0 && kindId <= kMaxNumber;
    sources.clear();
    uint64_t back = 0;
    int shift = 0;
    for (uint8_t byte : selectNodes_.blob(2)) {
      back |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte & 0x80) {
        valid = valid && shift < 35;
        if (!valid) break;
        continue;
      }
      valid = valid && back > 0 && back < id;
      if (!valid) break;
      sources.push_back(id - static_cast<NodeId>(back));
      back = 0;
      shift = 0;
    }
    if (!valid || shift != 0) {
      selectNodes_.reset();
      damaged(id, "its row is not valid");
    }
    auto* kept = static_cast<NodeId*>(sources_.allocate(sources.size() * sizeof(NodeId)));
    std::copy(sources.begin(), sources.end(), kept);
    RawNode node = kind(static_cast<uint32_t>(kindId));
    node.src = {kept, sources.size()};
    page.nodes[page.filled++] = node;
  }
  return page;
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
  try {
    value = Arg::decode(selectArg_.text(0));
  } catch (const Error& e) {
    std::string text(selectArg_.text(0));
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
  Statement s = db_.prepare("SELECT max(id) FROM node");
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
