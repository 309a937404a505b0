// Two compilations side by side, event by event: which pass and rewrite of the one belongs to which of the
// other. A debugger moves along these rows, so both sides are always as far as each other.
//
//   LockStep both(before, after);
//   for (const LockRow& row : both.rows()) if (row.mark != ' ') print(row.mark, row.before, row.after);
//   const LockRow& row = both.rows()[both.rowOf(firstDivergence(before, after))];
//
// Passes are aligned by name, the rewrites in them by content, and what is left by rule: the same rule on
// another node is one row. Each event of either story but the ends of passes is in exactly one row, in order.
#pragma once
#include "replay/compare/divergence.h"

namespace uopscope {

/// How far one side is.
struct LockPlace {
  int pass = -1;    ///< in the order in which passes begin, from 0; -1: none has begun
  int64_t step = 0; ///< rewrites of that pass made so far
  bool operator==(const LockPlace&) const = default;
};

struct LockRow {
  int before = -1, after = -1;       ///< events of the stories, -1 where that side does nothing here
  char mark = ' ';                   ///< ' ' the same, '~' not quite, '-' before only, '+' after only
  LockPlace beforePlace, afterPlace; ///< with what the row does; of a side that does nothing: where it stays
};

class LockStep {
public:
  LockStep() = default;
  LockStep(const Story& before, const Story& after);

  const std::vector<LockRow>& rows() const { return rows_; }
  /// The row in which the compilations part; 0 where they do not.
  size_t rowOf(const Divergence& divergence) const;

private:
  std::vector<LockRow> rows_;
};

} // namespace uopscope
