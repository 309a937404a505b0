// One table of labels by operation; all lengths are cut here, so that a box has a bounded size.
#include "viz/pictures/labels.h"

#include "replay/read/lane_text.h"
#include "replay/read/readable.h"
#include "replay/schema/letters.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {
namespace {

constexpr size_t kDetail = metrics::kMaxChars;

// Names in traces of other programs may contain terminal colours.
std::string withoutEscapes(const std::string& s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\x1b' && i + 1 < s.size() && s[i + 1] == '[')
      i = std::min(s.find('m', i), s.size());
    else
      out += s[i];
  }
  return out;
}

std::string inLine(std::string s, size_t most = kDetail) {
  std::ranges::replace(s, '\n', ' ');
  return clipped(std::move(s), most);
}
// Outer brackets carry no information in a label.
std::string unwrapped(std::string s) {
  if (s.size() < 2 || s.front() != '(' || s.back() != ')') return s;
  int depth = 0;
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    depth += s[i] == '(' ? 1 : s[i] == ')' ? -1 : 0;
    if (depth == 0) return s;
  }
  return s.substr(1, s.size() - 2);
}
std::string formula(const NodeReader& read, NodeId id, int depth = 5) {
  return inLine(unwrapped(readableExpression(read, id, depth, 160)));
}
// A cut formula would say less than the edges do.
std::string wholeFormula(const NodeReader& read, NodeId id, int depth) {
  std::string s = unwrapped(readableExpression(read, id, depth, 120));
  return s.size() <= kDetail && s.find("...") == std::string::npos ? s : std::string();
}

} // namespace

std::string shortType(DType dtype) {
  if (dtype.isVoid()) return {};
  std::string name = dtype.name();
  if (name.starts_with("dtypes.")) name.erase(0, 7);
  return name;
}

bool foldsAlways(const NodeReader& read, const NodeFields& node) {
  switch (node.op) {
  case Op::CONST:
  case Op::VCONST:
  case Op::UNIQUE:
  case Op::LUNIQUE:
  case Op::DEVICE: return true;
  case Op::VECTORIZE:
    if (node.src.size() > 16 || node.dtype.kind() != Scalar::Index) return false;
    for (NodeId s : node.src)
      if (read(s).op != Op::CONST) return false;
    return true;
  default: return false;
  }
}

bool mayBeHub(Op op) {
  switch (op) {
  case Op::RANGE:
  case Op::SPECIAL:
  case Op::DEFINE_VAR:
  case Op::BIND:
  case Op::DEFINE_GLOBAL:
  case Op::DEFINE_LOCAL:
  case Op::DEFINE_REG:
  case Op::BUFFER: return true;
  default: return false;
  }
}

std::string foldedText(const NodeReader& read, const NodeFields& node) {
  switch (node.op) {
  case Op::CONST:
  case Op::VCONST: return inLine(runsOfTuple(node.arg.repr()), 18);
  case Op::DEVICE: return inLine(node.arg.repr(), 14);
  case Op::UNIQUE:
  case Op::LUNIQUE: return fmt::format("#{}", node.arg.kind() == ArgKind::Int ? node.arg.i() : 0);
  case Op::VECTORIZE: {
    std::string s = "(";
    for (size_t i = 0; i < node.src.size(); ++i) s += (i ? ", " : "") + read(node.src[i]).arg.repr();
    return inLine(s + ")", 26);
  }
  default: return inLine(unwrapped(readableExpression(read, node.id, 1, 40)), 18);
  }
}

std::string expressionText(const NodeReader& read, NodeId node) {
  return unwrapped(readableExpression(read, node, 6, 60));
}

bool isShortExpression(const NodeReader& read, const NodeFields& n, size_t most) {
  if (!group::kAlu.has(n.op) || n.dtype.kind() != Scalar::Index || n.dtype.count() > 1) return false;
  const std::string s = expressionText(read, n.id);
  return s.size() <= most && s.find("...") == std::string::npos;
}

std::string titleOf(const NodeReader& read, const NodeFields& node) {
  const PictureNode box = labelOf(read, node);
  return box.detail.empty() ? box.op : box.op + " " + box.detail;
}

namespace {

std::string evenSteps(const std::vector<FoldedSource>& folded) {
  std::vector<std::string> texts;
  for (const FoldedSource& f : folded) {
    if (f.count != 1 || f.port != folded.front().port + texts.size()) return {};
    texts.push_back(f.text);
  }
  return uopscope::evenSteps(texts);
}

} // namespace

void joinFolded(std::vector<FoldedSource>& folded) {
  if (folded.size() <= 4) return;
  if (std::string steps = evenSteps(folded); !steps.empty()) {
    folded.front().count = static_cast<uint32_t>(folded.size());
    folded.front().text = std::move(steps);
    folded.resize(1);
    return;
  }
  std::vector<FoldedSource> joined;
  for (FoldedSource& f : folded)
    if (!joined.empty() && joined.back().text == f.text && joined.back().port + joined.back().count == f.port)
      ++joined.back().count;
    else
      joined.push_back(std::move(f));
  folded = std::move(joined);
}

PictureNode labelOf(const NodeReader& read, const NodeFields& n) {
  PictureNode box;
  box.id = n.id;
  box.op = opName(n.op);
  box.family = opFamily(box.op);
  box.dtype = inLine(shortType(n.dtype), 24);
  if (n.tag) box.tag = n.tag.repr();
  switch (n.op) {
  case Op::RANGE: {
    // A loop has the name that expressions over it have.
    std::string loop;
    if (n.arg.kind() == ArgKind::Range)
      loop =
          readableExpression(read, n.id, 1, 40) + " " + std::string(axisTypeName(n.arg.as<RangeArg>().type));
    if (!n.src.empty()) loop += " to " + formula(read, n.src[0], 3);
    box.detail = inLine(loop);
    break;
  }
  case Op::DEFINE_GLOBAL:
    box.detail = n.arg.kind() == ArgKind::Int ? fmt::format("data{}", n.arg.i()) : n.arg.repr();
    break;
  case Op::INDEX:
    if (n.src.size() > 1) box.detail = wholeFormula(read, n.src[1], 5);
    break;
  case Op::SINK:
    if (n.arg.kind() == ArgKind::Kernel) box.detail = inLine(withoutEscapes(n.arg.as<KernelInfo>().name));
    break;
  case Op::REDUCE:
  case Op::ALLREDUCE:
    if (n.arg.kind() == ArgKind::Op) {
      box.detail = std::string(opName(n.arg.op())) + (n.src.size() > 1 ? " over" : "");
      for (size_t i = 1; i < n.src.size(); ++i) box.detail += " " + foldedText(read, read(n.src[i]));
      box.detail = inLine(box.detail);
    }
    break;
  case Op::LOAD:
  case Op::STORE:
  case Op::END:
  case Op::AFTER:
  case Op::GROUP:
  case Op::CAST:
  case Op::BITCAST:
  case Op::VECTORIZE:
  case Op::BARRIER:
    if (n.arg.kind() == ArgKind::String) box.detail = inLine(n.arg.str()); // how, as of a streamed store
    break;
  default:
    if (group::kAlu.has(n.op)) {
      box.detail = wholeFormula(read, n.id, 4);
    } else if (n.arg) {
      box.detail = inLine(runsOfTuple(n.arg.repr()));
    }
  }
  return box;
}

} // namespace uopscope
