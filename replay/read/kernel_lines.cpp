// Reads all data of a kernel at once, since it is small.
#include "replay/read/kernel_lines.h"

#include <algorithm>
#include <sstream>

namespace uopscope {

namespace {
bool isOperandAt(NodeTable& nodes, NodeId id, int depth) {
  switch (nodes.op(id)) {
  case Op::CONST:
  case Op::VCONST:
  case Op::DEFINE_GLOBAL:
  case Op::DEFINE_LOCAL:
  case Op::DEFINE_REG:
  case Op::DEFINE_VAR: return true;
  case Op::VECTORIZE:
    return depth < 2 &&
           std::ranges::all_of(nodes.raw(id).src, [&](NodeId s) { return isOperandAt(nodes, s, depth + 1); });
  case Op::AFTER:
    return depth < 8 && !nodes.raw(id).src.empty() && isOperandAt(nodes, nodes.raw(id).src[0], depth + 1);
  default: return false;
  }
}
} // namespace

bool isOperand(NodeTable& nodes, NodeId node) {
  return isOperandAt(nodes, node, 0);
}

KernelLines::KernelLines(Trace& trace, ScopeId kernel) : program_(trace.program(kernel)) {
  for (NodeId id : program_) operand_.push_back(isOperand(trace.nodes(), id));
  for (const ArtifactInfo& a : trace.artifacts(kernel)) {
    if (a.kind != "source" && a.kind != "ir" && a.kind != "asm") continue;
    Text& text = texts_[a.kind] = {};
    std::istringstream in(trace.artifactText(a.id));
    for (std::string line; std::getline(in, line);) text.lines.push_back(line);
    text.map = trace.textLines(a.id);
    std::erase_if(text.map, [&](const TextLineInfo& l) { return l.instruction >= program_.size(); });
  }
}

std::vector<std::string> KernelLines::texts() const {
  std::vector<std::string> out;
  for (const char* kind : {"source", "ir", "asm"})
    if (texts_.contains(kind)) out.emplace_back(kind);
  return out;
}

bool KernelLines::mapped(const std::string& text) const {
  auto it = texts_.find(text);
  return it != texts_.end() && !it->second.map.empty();
}

int64_t KernelLines::lineCount(const std::string& text) const {
  auto it = texts_.find(text);
  return it == texts_.end() ? 0 : static_cast<int64_t>(it->second.lines.size());
}

std::string KernelLines::lineText(const std::string& text, int64_t line) const {
  return line < 1 || line > lineCount(text) ? "" : texts_.at(text).lines[static_cast<size_t>(line - 1)];
}

std::vector<uint32_t> KernelLines::instructions(const std::string& text, int64_t line) const {
  std::vector<uint32_t> out;
  if (auto it = texts_.find(text); it != texts_.end())
    for (const TextLineInfo& l : it->second.map)
      if (l.line == line) out.push_back(l.instruction);
  return out;
}

std::vector<uint32_t> KernelLines::own(const std::string& text, int64_t line) const {
  std::vector<uint32_t> all = instructions(text, line), out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](uint32_t i) { return !operand_[i]; });
  return out.empty() ? all : out;
}

std::vector<TextPlace> KernelLines::linesAbout(const std::vector<uint32_t>& wanted) const {
  std::vector<bool> isWanted(program_.size());
  for (uint32_t i : wanted) isWanted.at(i) = true;
  std::vector<TextPlace> out;
  for (const std::string& kind : texts()) {
    const auto& map = texts_.at(kind).map; // indexed by line
    for (size_t begin = 0, end = 0; begin < map.size(); begin = end) {
      bool all = true, only = false, about = false;
      for (; end < map.size() && map[end].line == map[begin].line; ++end) {
        uint32_t i = map[end].instruction;
        all &= operand_[i];
        only |= isWanted[i];
        about |= isWanted[i] && !operand_[i];
      }
      if (about || (all && only)) out.push_back({kind, map[begin].line});
    }
  }
  return out;
}

std::vector<TextPlace> KernelLines::places(uint32_t instruction) const {
  std::vector<TextPlace> out;
  for (const std::string& kind : texts())
    for (const TextLineInfo& l : texts_.at(kind).map)
      if (l.instruction == instruction) out.push_back({kind, l.line});
  return out;
}

std::optional<uint32_t> KernelLines::positionOf(NodeId node) const {
  auto it = std::ranges::find(program_, node);
  if (it == program_.end()) return std::nullopt;
  return static_cast<uint32_t>(it - program_.begin());
}

} // namespace uopscope
