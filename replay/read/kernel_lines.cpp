// Everything of one kernel is read at once: it is small.
#include "replay/read/kernel_lines.h"

#include <algorithm>
#include <sstream>

namespace uopscope {

KernelLines::KernelLines(Trace& trace, ScopeId kernel) : program_(trace.program(kernel)) {
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
