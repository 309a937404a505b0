// Aligns two compilations event by event: each row pairs a pass or rewrite of one with its counterpart. A
// debugger moves along these rows, so both sides always stand at corresponding places.
//
//   LockStep both(before, after);
//   for (const LockRow& row : both.rows()) if (row.mark != ' ') print(row.mark, row.before, row.after);
//   const LockRow& row = both.rows()[both.rowOf(firstDivergence(before, after))];
//
// Passes are aligned by name and rewrites in them by content; the remaining rewrites are aligned by rule: the
// same rule on a different node is one row. Each event of either story, except the ends of passes, is in
// exactly one row, in order.
#pragma once
#include "replay/compare/divergence.h"

namespace uopscope {

/// The progress of one side.
struct LockPlace {
  int pass = -1;    ///< in the order in which passes begin, from 0; -1: none has begun
  int64_t step = 0; ///< rewrites of that pass made so far
  bool operator==(const LockPlace&) const = default;
};

struct LockRow {
  int before = -1, after = -1;       ///< events of the stories; -1: that side has none here
  char mark = ' ';                   ///< ' ' equal, '~' similar, '-' before only, '+' after only
  LockPlace beforePlace, afterPlace; ///< places after the row; a side without an event stays
};

class LockStep {
public:
  LockStep() = default;
  LockStep(const Story& before, const Story& after);

  const std::vector<LockRow>& rows() const { return rows_; }
  /// The row in which the compilations part; 0 where they do not part.
  size_t rowOf(const Divergence& divergence) const;

private:
  std::vector<LockRow> rows_;
};

} // namespace uopscope
