// Expressions stop at a depth and a length, so one line costs the same for a graph of any size.
#include "replay/read/print.h"

#include "replay/read/lane_text.h"
#include "replay/read/readable.h"
#include "replay/read/uop_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace uopscope {

namespace {

class Writer {
public:
  Writer(const NodeReader& read, size_t maxLength, bool runs)
      : read_(read), maxLength_(maxLength), runs_(runs) {}
  void write(NodeId id, int depth) {
    if (out.size() > maxLength_) {
      out += "...";
      return;
    }
    NodeFields n = read_(id);
    std::string_view symbol = opSymbol(n.op);
    if (n.src.empty() || n.op == Op::RANGE || n.op == Op::SPECIAL || n.op == Op::DEFINE_VAR) {
      leaf(n);
      return;
    }
    if (depth <= 0) {
      out += "...";
      return;
    }
    if (!symbol.empty() && n.src.size() == 2) {
      out += '(';
      write(n.src[0], depth - 1);
      out += symbol;
      write(n.src[1], depth - 1);
      out += ')';
      return;
    }
    if (n.op == Op::INDEX && n.src.size() >= 2) {
      write(n.src[0], depth - 1);
      out += '[';
      list(n.src.subspan(1), depth);
      out += ']';
      return;
    }
    out += opName(n.op);
    if (n.op == Op::CAST || n.op == Op::BITCAST)
      out += fmt::format("<{}>", n.dtype.name().substr(n.dtype.name().find('.') + 1));
    else if (n.arg)
      out += fmt::format("<{}>", argument(n));
    out += '(';
    list(n.src, depth);
    out += ')';
  }
  std::string out;

private:
  void list(std::span<const NodeId> src, int depth) {
    if (const std::string steps = constants(src); !steps.empty()) {
      out += steps;
      return;
    }
    for (size_t k = 0; k < src.size();) {
      if (k) out += ", ";
      if (out.size() > maxLength_) {
        write(src[k], 0);
        return;
      }
      write(src[k], depth - 1);
      size_t same = 1;
      while (runs_ && src.size() > kFewLanes && k + same < src.size() && src[k + same] == src[k]) ++same;
      if (same > 1) out += fmt::format(" ×{}", same);
      k += same;
    }
  }
  std::string constants(std::span<const NodeId> src) const {
    if (!runs_ || src.size() <= kFewLanes) return {};
    std::vector<std::string> texts;
    for (const NodeId s : src) {
      const NodeFields n = read_(s);
      if (n.op != Op::CONST) return {};
      texts.push_back(n.arg.repr());
    }
    return runsOf(texts);
  }
  std::string argument(const NodeFields& n) const { return runs_ ? runsOfTuple(n.arg.repr()) : n.arg.repr(); }
  void leaf(const NodeFields& n) {
    if (n.op == Op::RANGE && n.arg.kind() == ArgKind::Range) {
      const auto& range = n.arg.as<RangeArg>();
      std::string name(1, axisTypeLetter(range.type));
      for (size_t k = 0; k < range.ids.size(); ++k) name += fmt::format("{}{}", k ? "_" : "", range.ids[k]);
      out += name;
    } else if (n.op == Op::DEFINE_VAR && n.arg.kind() == ArgKind::Var) {
      out += n.arg.as<VarArg>().name;
    } else if (n.op == Op::SPECIAL && n.arg.kind() == ArgKind::String) {
      out += n.arg.str();
    } else if (n.op == Op::CONST) {
      out += n.arg.repr();
    } else if (n.op == Op::DEFINE_GLOBAL && n.arg.kind() == ArgKind::Int) {
      out += fmt::format("data{}", n.arg.i());
    } else {
      out += opName(n.op);
      if (n.arg) out += fmt::format("<{}>", argument(n));
    }
  }
  const NodeReader& read_;
  size_t maxLength_;
  bool runs_; ///< of many lanes the runs are told
};
} // namespace

std::string expression(const NodeReader& read, NodeId id, int maxDepth, size_t maxLength) {
  Writer w(read, maxLength, false);
  w.write(id, maxDepth);
  return w.out;
}

std::string readableExpression(const NodeReader& read, NodeId id, int maxDepth, size_t maxLength) {
  Writer w(read, maxLength, true);
  w.write(id, maxDepth);
  return w.out;
}

std::string readableExpression(UOp node, int maxDepth, size_t maxLength) {
  UOpReader nodes;
  return readableExpression(nodes.reader(), nodes.idOf(node), maxDepth, maxLength);
}

std::string nodeLabel(const NodeFields& node) {
  std::string dtype = node.dtype.name();
  std::string out = fmt::format("{} {}", opName(node.op), dtype.substr(dtype.find('.') + 1));
  if (node.arg) out += " " + node.arg.repr();
  if (node.tag) out += " tag=" + node.tag.repr();
  return out;
}

namespace {

enum class Numbers : bool { Without, With };

std::string treeText(const NodeReader& read, NodeId root, size_t maxLines, Numbers numbers) {
  std::unordered_map<NodeId, size_t> lineOf;
  std::vector<std::pair<NodeId, int>> stack{{root, 0}};
  std::string out;
  size_t lines = 0;
  while (!stack.empty()) {
    auto [id, depth] = stack.back();
    stack.pop_back();
    if (lines == maxLines) {
      out += fmt::format("... {} more branches not shown\n", stack.size() + 1);
      break;
    }
    ++lines;
    std::string indent(static_cast<size_t>(std::min(depth, 60)) * 2, ' ');
    const std::string name = numbers == Numbers::Without ? ""
                             : id < kFirstViewNode       ? fmt::format("{} ", id)
                                                         : fmt::format("v{} ", id - kFirstViewNode);
    NodeFields n = read(id);
    auto [it, fresh] = lineOf.emplace(id, lines);
    if (!fresh && !n.src.empty()) {
      out += fmt::format("{}{}{} ... as in line {}\n", indent, name, opName(n.op), it->second);
      continue;
    }
    out += fmt::format("{}{}{}\n", indent, name, nodeLabel(n));
    for (size_t k = n.src.size(); k-- > 0;) stack.push_back({n.src[k], depth + 1});
  }
  return out;
}

} // namespace

std::string printTree(const NodeReader& read, NodeId root, size_t maxLines) {
  return treeText(read, root, maxLines, Numbers::With);
}
std::string printPlainTree(const NodeReader& read, NodeId root, size_t maxLines) {
  return treeText(read, root, maxLines, Numbers::Without);
}

std::string programText(const NodeReader& read, const std::vector<NodeId>& program) {
  std::unordered_map<NodeId, size_t> number;
  for (size_t i = 0; i < program.size(); ++i) number[program[i]] = i;
  std::string text;
  int depth = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    NodeFields u = read(program[i]);
    std::string sources;
    for (NodeId s : u.src) {
      NodeFields source = read(s);
      auto hit = number.find(s);
      if (!sources.empty()) sources += ", ";
      sources += source.op == Op::CONST ? source.arg.repr()
                 : hit == number.end()  ? "?"
                                        : fmt::format("{}", hit->second);
    }
    if (u.op == Op::END || u.op == Op::ENDIF) depth = std::max(depth - 1, 0);
    std::string op = fmt::format("{:{}}{}", "", depth * 2, opName(u.op));
    text += fmt::format("{:4d} {:24s} {:32s} [{}]{}{}\n", i, op, u.dtype.name(), sources, u.arg ? " " : "",
                        u.arg ? u.arg.repr() : "");
    if (u.op == Op::RANGE || u.op == Op::IF) ++depth;
  }
  return text;
}

} // namespace uopscope
