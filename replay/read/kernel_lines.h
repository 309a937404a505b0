// The lines of a kernel's texts and the instructions of its linear program, both ways.
//
//   KernelLines lines(trace, kernel);
//   for (uint32_t i : lines.instructions("source", 12)) show(lines.program()[i]);
//   for (const TextPlace& p : lines.places(i)) print(p.text, p.line, lines.lineText(p.text, p.line));
//
// Texts are "source", "ir" and "asm", the last one of each kind; what the recording does not know is empty.
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct TextPlace {
  std::string text; ///< "source", "ir" or "asm"
  int64_t line = 0; ///< from 1
  bool operator==(const TextPlace&) const = default;
};

/// Constants, parameters and memory: leaves of a linear program that any line may mention, and vectors of
/// them.
bool isOperand(NodeTable& nodes, NodeId node);

class KernelLines {
public:
  KernelLines(Trace& trace, ScopeId kernel);
  const std::vector<NodeId>& program() const { return program_; }
  /// Kinds of text there are.
  std::vector<std::string> texts() const;
  /// Whether lines of the text are known to come from instructions.
  bool mapped(const std::string& text) const;
  int64_t lineCount(const std::string& text) const;
  /// Without the line's end; empty beyond the text.
  std::string lineText(const std::string& text, int64_t line) const;
  std::vector<uint32_t> instructions(const std::string& text, int64_t line) const;
  /// Those the line is about: without operands, unless it has nothing else.
  std::vector<uint32_t> own(const std::string& text, int64_t line) const;
  bool operand(uint32_t instruction) const { return operand_[instruction]; }
  std::vector<TextPlace> places(uint32_t instruction) const;
  /// Lines that are about one of the instructions, text by text.
  std::vector<TextPlace> linesAbout(const std::vector<uint32_t>& instructions) const;
  /// Position of a node in the program.
  std::optional<uint32_t> positionOf(NodeId node) const;

private:
  struct Text {
    std::vector<std::string> lines;
    std::vector<TextLineInfo> map;
  };
  std::vector<NodeId> program_;
  std::vector<bool> operand_;
  std::map<std::string, Text> texts_;
};

} // namespace uopscope
