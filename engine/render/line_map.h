// The instructions of a linear program that each line of a renderer's text comes from, found by watching the
// text grow.
//
//   LineMap map(kernel.uops);
//   for (UOp u : kernel.uops) { visit(u); map.visited(u, body); }
//   map.lines(head)             // lines of "head, signature, body", from 1
//
// A line belongs to the instruction that wrote it, and to the instructions written inside it that have no
// line of their own: constants, addresses, values with one user. Parameters belong to the line of the
// signature, and so do the numbers of threads that the signature has.
#pragma once
#include "engine/base/id_map.h"
#include "engine/codegen/codegen.h"
#include "engine/rewrite/observer.h"

namespace uopscope {

class LineMap {
public:
  explicit LineMap(std::span<const UOp> program);
  /// Reports that `u`, the next instruction, has been written; `body` is the text so far.
  void visited(UOp u, const std::string& body);
  /// The lines of the whole text: `head`, one line for the signature, `entry`, the body.
  std::vector<TextLine> lines(std::string_view head, std::string_view entry = {}) const;

private:
  void addInlined(UOp user, uint32_t line);

  IdMap<uint32_t> position_;     ///< of each instruction in the program
  std::vector<uint8_t> hasLine_; ///< by position
  std::vector<uint32_t> met_;    ///< by position: the walk of addInlined() that met the instruction
  std::vector<UOp> stack_;
  std::vector<TextLine> body_; ///< lines of the body, from 0
  std::vector<uint32_t> parameters_;
  uint32_t walk_ = 0;
  size_t seen_ = 0;
  uint32_t line_ = 0;
};

} // namespace uopscope
