// Inserts rows of integers, many by one statement. A statement costs as much to begin and end as a row of a table with
// many small rows costs to store.
//
//   RowBatch steps(db, "step", {"id", "pass", "gain"});
//   steps.add({1, 1, std::nullopt});                       // NULL
//   steps.flush();                                         // before every commit, and before the rows are read
#pragma once
#include "replay/schema/database.h"

#include <initializer_list>
#include <optional>
#include <vector>

namespace uopscope {

class RowBatch {
public:
  using Value = std::optional<int64_t>; ///< nullopt: NULL
  RowBatch(const Database& db, std::string_view table, std::initializer_list<std::string_view> columns);
  /// One value for each column.
  void add(std::initializer_list<Value> row);
  void flush();

private:
  void run(Statement& insert, size_t first, size_t rows);

  size_t columns_;
  Statement one_, many_;
  std::vector<Value> waiting_; ///< the values of whole rows, one row after the other
};

} // namespace uopscope
