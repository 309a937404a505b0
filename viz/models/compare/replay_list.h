// The compilations of a comparison, grouped by the cause of their change, largest group first; unchanged
// compilations come last. Filters, a search, and groups that open and close.
//
//   ReplayList list;  list.setDiff(diff);  list.setFilter("slower");  list.setSearch("matmul.py");
#pragma once
#include "replay/compare/difference.h"

#include <QAbstractListModel>
#include <QSet>
#include <QVariantList>
#include <memory>

namespace uopscope {

class ReplayList : public QAbstractListModel {
  Q_OBJECT
  /// "all", "changed", "failed", "slower", "faster", "otherWay", "same"
  Q_PROPERTY(QString filter READ filter WRITE setFilter NOTIFY changed)
  /// Part of a name, a script line or a cause.
  Q_PROPERTY(QString search READ search WRITE setSearch NOTIFY changed)
  /// [{value, text, count}] of the filters with a result.
  Q_PROPERTY(QVariantList filters READ filters NOTIFY diffChanged)
  /// Number of compilations listed, with those in closed groups.
  Q_PROPERTY(int shown READ shown NOTIFY changed)
  Q_PROPERTY(int total READ total NOTIFY diffChanged)
  /// The chosen row, -1 for none.
  Q_PROPERTY(int currentRow READ currentRow NOTIFY currentChanged)

public:
  enum Roles {
    GroupRole = Qt::UserRole + 1, ///< whether the row is a cause
    TextRole,                     ///< name, or the cause
    PlaceRole,                    ///< script line
    CountRole,                    ///< of a cause
    SignRole,                     ///< "~" changed, "!" failed, "+", "−", "≈" other way, "=" same
    StatusRole,                   ///< statusName()
    RatioRole,                    ///< compile time, after / before, where it differs beyond noise; else 0
    OpenRole,                     ///< of a cause
    ChosenRole,
    SureRole ///< confidence that the two form a pair, from 0 to 1
  };
  using QAbstractListModel::QAbstractListModel;

  void setDiff(std::shared_ptr<const CorpusDiff> diff);
  const CorpusDiff* diff() const { return diff_.get(); }
  QString filter() const { return filter_; }
  void setFilter(const QString& filter);
  QString search() const { return search_; }
  void setSearch(const QString& text);
  QVariantList filters() const;
  int shown() const { return shown_; }
  int total() const { return diff_ ? static_cast<int>(diff_->changes.size()) : 0; }
  int currentRow() const;
  /// Index into the changes, -1 for none.
  int current() const { return current_; }
  void setCurrent(int change);

  /// Opens or closes a cause, or chooses a compilation.
  Q_INVOKABLE void click(int row);
  /// Chooses the next or previous compilation of the list.
  void move(int direction);
  void chooseFirst();

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
  }
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();
  void diffChanged();
  void currentChanged();
  /// A person chose this change.
  void chosen(int change);

private:
  struct Group {
    QString cause;
    std::vector<uint32_t> changes;
  };
  /// A row; change -1: the head of a group.
  struct Row {
    int group = 0, change = -1;
    int count = 0; ///< of a head: the number of its compilations
  };
  bool passes(const Change& change, const QString& filter) const;
  void show();

  std::shared_ptr<const CorpusDiff> diff_;
  std::vector<Group> groups_;
  std::vector<Row> rows_;
  QSet<QString> turned_; ///< groups that a person opened or closed
  QString filter_ = QStringLiteral("all"), search_;
  int shown_ = 0, current_ = -1;
};

} // namespace uopscope
