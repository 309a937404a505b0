#include "viz/models/code/llvm_passes_model.h"

#include "engine/runtime/llvm_passes.h"

namespace uopscope {

LlvmPassesModel::LlvmPassesModel(Session& session, QObject* parent)
    : QAbstractListModel(parent), session_(session) {
  lines_.setOnlyChanges(true);
  connect(&session_, &Session::placeChanged, this, &LlvmPassesModel::ask);
  connect(&session_, &Session::opened, this, [this] {
    scope_ = -1;
    ask();
  });
}

void LlvmPassesModel::setOpen(bool open) {
  if (open == open_) return;
  open_ = open;
  Q_EMIT changed();
  ask();
}

void LlvmPassesModel::setCurrent(int row) {
  if (row < 0 || row >= count()) return;
  current_ = row;
  const QString before = row ? passes_[static_cast<size_t>(row) - 1].text : QString();
  const QString& after = passes_[static_cast<size_t>(row)].text;
  lines_.setRows(compareTexts(row ? before : after, after, Language::Llvm));
  lines_.setOnlyChanges(row > 0);
  Q_EMIT changed();
}

QString LlvmPassesModel::name() const {
  return passes_.empty() ? QString() : passes_[static_cast<size_t>(current_)].name;
}

QString LlvmPassesModel::meaning() const {
  return passes_.empty() ? QString() : passes_[static_cast<size_t>(current_)].meaning;
}

void LlvmPassesModel::ask() {
  if (!open_ || !session_.trace() || session_.scope() == scope_) return;
  scope_ = session_.scope();
  busy_ = true;
  Q_EMIT changed();
  session_.jobs().ask(
      Channel::Llvm,
      [this, scope = scope_](Jobs::Job& job) -> Jobs::Answer {
        const auto text = job.trace().artifact(scope, "ir");
        if (!text) return [this] { show({}, tr("There is no LLVM IR of this kernel or schedule.")); };
        std::vector<Pass> passes;
        std::string before;
        for (LlvmPass& p : llvmPasses(*text)) {
          Pass row{QString::fromStdString(p.name),
                   QString::fromUtf8(llvmPassMeaning(p.name)),
                   QString::fromStdString(p.text),
                   {}};
          if (!passes.empty()) row.changes = lineChanges(before, p.text);
          before = std::move(p.text);
          passes.push_back(std::move(row));
        }
        passes.front().name = tr("As rendered");
        return [this, passes = std::move(passes)]() mutable { show(std::move(passes), {}); };
      },
      [this](const QString& what) { show({}, what); });
}

void LlvmPassesModel::show(std::vector<Pass> passes, const QString& problem) {
  beginResetModel();
  passes_ = std::move(passes);
  problem_ = problem;
  busy_ = false;
  current_ = 0;
  endResetModel();
  if (passes_.empty())
    lines_.setRows({});
  else
    setCurrent(count() > 1 ? 1 : 0);
  Q_EMIT changed();
}

int LlvmPassesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant LlvmPassesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  const Pass& p = passes_[static_cast<size_t>(index.row())];
  switch (role) {
  case NameRole: return p.name;
  case MeaningRole: return p.meaning;
  case AddedRole: return static_cast<qlonglong>(p.changes.added);
  case RemovedRole: return static_cast<qlonglong>(p.changes.removed);
  default: return {};
  }
}

QHash<int, QByteArray> LlvmPassesModel::roleNames() const {
  return {{NameRole, "name"}, {MeaningRole, "meaning"}, {AddedRole, "added"}, {RemovedRole, "removed"}};
}

} // namespace uopscope
