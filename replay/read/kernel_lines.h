// Maps the lines of a kernel's texts to the instructions of its linear program, and back.
//
//   KernelLines lines(trace, kernel);
//   for (uint32_t i : lines.instructions("source", 12)) show(lines.program()[i]);
//   for (const TextPlace& p : lines.places(i)) print(p.text, p.line, lines.lineText(p.text, p.line));
//
// Texts are "source", "ir" and "asm", the last one of each kind; data that the recording lacks is empty.
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct TextPlace {
  std::string text; ///< "source", "ir" or "asm"
  int64_t line = 0; ///< from 1
  bool operator==(const TextPlace&) const = default;
};

/// Whether a node is a constant, a parameter, memory, or a vector of these: any line may mention them.
bool isOperand(NodeTable& nodes, NodeId node);

class KernelLines {
public:
  KernelLines(Trace& trace, ScopeId kernel);
  const std::vector<NodeId>& program() const { return program_; }
  /// The kinds of text that the kernel has.
  std::vector<std::string> texts() const;
  /// Whether the recording maps lines of the text to instructions.
  bool mapped(const std::string& text) const;
  int64_t lineCount(const std::string& text) const;
  /// The line without its line end; empty beyond the text.
  std::string lineText(const std::string& text, int64_t line) const;
  std::vector<uint32_t> instructions(const std::string& text, int64_t line) const;
  /// The instructions that the line computes: operands are left out, unless the line has nothing else.
  std::vector<uint32_t> own(const std::string& text, int64_t line) const;
  bool operand(uint32_t instruction) const { return operand_[instruction]; }
  std::vector<TextPlace> places(uint32_t instruction) const;
  /// The lines that compute one of the instructions, text by text.
  std::vector<TextPlace> linesAbout(const std::vector<uint32_t>& instructions) const;
  /// The position of a node in the program.
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
