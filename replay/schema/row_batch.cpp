// A batch runs whole, or row by row when a flush comes before it is full.
#include "replay/schema/row_batch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace uopscope {

namespace {
constexpr size_t kRows =
    32; ///< of a batch: a row of steps takes 0.26 us instead of 0.37; with 64 it takes 0.25
} // namespace

RowBatch::RowBatch(const Database& db, std::string_view table,
                   std::initializer_list<std::string_view> columns)
    : columns_(columns.size()) {
  const std::string into = fmt::format("INSERT INTO {} ({}) VALUES ", table, fmt::join(columns, ", "));
  const std::string row = fmt::format("({})", fmt::join(std::vector<std::string_view>(columns_, "?"), ", "));
  one_ = db.prepare(into + row);
  many_ = db.prepare(into + fmt::format("{}", fmt::join(std::vector<std::string_view>(kRows, row), ", ")));
  waiting_.reserve(kRows * columns_);
}

void RowBatch::add(std::initializer_list<Value> row) {
  if (row.size() != columns_)
    throw Error(ErrorKind::Value, fmt::format("a row of {} values for {} columns", row.size(), columns_));
  waiting_.insert(waiting_.end(), row);
  if (waiting_.size() < kRows * columns_) return;
  run(many_, 0, kRows);
  waiting_.clear();
}

void RowBatch::flush() {
  const size_t rows = waiting_.size() / columns_;
  for (size_t row = 0; row < rows; ++row) run(one_, row, 1);
  waiting_.clear();
}

void RowBatch::run(Statement& insert, size_t first, size_t rows) {
  for (size_t i = 0; i < rows * columns_; ++i) {
    const Value& value = waiting_[first * columns_ + i];
    const int parameter = static_cast<int>(i) + 1;
    if (value)
      insert.bind(parameter, *value);
    else
      insert.bindNull(parameter);
  }
  insert.run();
}

} // namespace uopscope
