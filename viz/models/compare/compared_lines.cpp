// Keeps all rows, and a list of the visible ones.
#include "viz/models/compare/compared_lines.h"

#include <algorithm>

namespace uopscope {
namespace {

constexpr size_t kAround = 3; // unchanged lines kept around a change while equal lines are hidden

} // namespace

void ComparedLines::setRows(std::vector<TextRow> rows) {
  rows_ = std::move(rows);
  widest_ = 0;
  for (const TextRow& r : rows_) widest_ = std::max(widest_, r.width);
  show();
}

void ComparedLines::setOnlyChanges(bool on) {
  if (on == onlyChanges_) return;
  onlyChanges_ = on;
  show();
}

void ComparedLines::show() {
  beginResetModel();
  shown_.clear();
  std::vector<bool> near(rows_.size(), !onlyChanges_);
  if (onlyChanges_)
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].mark != ' ')
        for (size_t k = i - std::min(i, kAround); k < std::min(rows_.size(), i + kAround + 1); ++k)
          near[k] = true;
  for (uint32_t i = 0; i < rows_.size(); ++i)
    if (near[i]) shown_.push_back(i);
  endResetModel();
  Q_EMIT changed();
}

int ComparedLines::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant ComparedLines::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const TextRow& r = rows_[shown_[static_cast<size_t>(index.row())]];
  switch (role) {
  case LeftNumberRole: return r.left;
  case RightNumberRole: return r.right;
  case LeftRole: return r.leftHtml;
  case RightRole: return r.rightHtml;
  case MarkRole: return QString(QLatin1Char(r.mark));
  default: return {};
  }
}

QHash<int, QByteArray> ComparedLines::roleNames() const {
  return {{LeftNumberRole, "leftNumber"},
          {RightNumberRole, "rightNumber"},
          {LeftRole, "leftHtml"},
          {RightRole, "rightHtml"},
          {MarkRole, "mark"}};
}

} // namespace uopscope
