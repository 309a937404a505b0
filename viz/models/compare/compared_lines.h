// Two texts side by side as a list: a row for each line of either text. Equal lines are hidden on request.
//
//   ComparedLines lines;  lines.setRows(compareTexts(before, after, Language::C));
#pragma once
#include "viz/models/compare/compare_view.h"

#include <QAbstractListModel>

namespace uopscope {

class ComparedLines : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(bool onlyChanges READ onlyChanges WRITE setOnlyChanges NOTIFY changed)
  /// Number of hidden rows.
  Q_PROPERTY(int hidden READ hidden NOTIFY changed)
  /// Number of characters of the longest line.
  Q_PROPERTY(int widest READ widest NOTIFY changed)

public:
  enum Roles { LeftNumberRole = Qt::UserRole + 1, RightNumberRole, LeftRole, RightRole, MarkRole };
  using QAbstractListModel::QAbstractListModel;
  void setRows(std::vector<TextRow> rows);
  const std::vector<TextRow>& rows() const { return rows_; }
  bool onlyChanges() const { return onlyChanges_; }
  void setOnlyChanges(bool on);
  int hidden() const { return static_cast<int>(rows_.size() - shown_.size()); }
  int widest() const { return widest_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();

private:
  void show();
  std::vector<TextRow> rows_;
  std::vector<uint32_t> shown_;
  int widest_ = 0;
  bool onlyChanges_ = false;
};

} // namespace uopscope
