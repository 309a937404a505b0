#include "viz/models/lab/warp_model.h"

#include "engine/base/error.h"
#include "replay/read/materialize.h"
#include "replay/read/print.h"

#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace uopscope {
namespace {

constexpr int64_t kSector = GpuWatch::kSector, kBanks = GpuWatch::kBanks, kWord = 4;

/// The lines of a linear program without the columns that align them.
QStringList linesOf(const std::string& program) {
  static const QRegularExpression padding(QStringLiteral("(?<=\\S) {2,}"));
  QStringList lines = QString::fromStdString(program).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  for (QString& line : lines)
    line = line.mid(5).replace(padding, QStringLiteral("  ")).remove(QStringLiteral("dtypes."));
  return lines;
}

QString textOf(const ConstValue& v) {
  switch (v.kind) {
  case ConstValue::Kind::Bool: return v.i ? QStringLiteral("True") : QStringLiteral("False");
  case ConstValue::Kind::Int: return QString::number(v.i);
  case ConstValue::Kind::Float: return QString::number(v.f, 'g', 5);
  default: return {};
  }
}

} // namespace

WarpModel::WarpModel(Session& session, QObject* parent) : QAbstractListModel(parent), session_(session) {
  connect(&session_, &Session::placeChanged, this, &WarpModel::ask);
  connect(&session_, &Session::opened, this, [this] {
    scope_ = -1;
    show({}, {}, {}, {}); // nothing of the trace before is right for this one
    ask();
  });
}

void WarpModel::setOpen(bool open) {
  if (open == open_) return;
  open_ = open;
  Q_EMIT changed();
  ask();
}

void WarpModel::setGroup(int group) {
  if (group == group_ || group < 0 || group >= groups()) return;
  group_ = group;
  scope_ = -1;
  ask();
}

void WarpModel::setWarp(int warp) {
  if (warp == warp_ || warp < 0 || warp >= warps()) return;
  warp_ = warp;
  scope_ = -1;
  ask();
}

void WarpModel::setStep(int step) {
  step = std::clamp(step, 0, std::max(0, stepCount() - 1));
  if (step == step_) return;
  step_ = step;
  Q_EMIT stepChanged();
}

void WarpModel::ask() {
  if (!open_ || !session_.trace() || session_.scope() == scope_) return;
  const bool sameKernel = scope_ == -1 && run_;
  if (!sameKernel) group_ = warp_ = 0;
  scope_ = session_.scope();
  busy_ = true;
  Q_EMIT changed();
  session_.jobs().ask(
      Channel::Warp,
      [this, scope = scope_, group = group_, warp = warp_,
       name = session_.scopeName().toStdString()](Jobs::Job& job) -> Jobs::Answer {
        const std::vector<NodeId> ids = job.trace().program(scope);
        if (ids.empty())
          return [this] { show({}, {}, {}, tr("There is no linear program of this kernel or schedule.")); };
        Pool pool;
        const PoolScope inPool(pool);
        Materializer again(job.trace().nodes().reader(), pool);
        std::vector<UOp> program;
        for (const NodeId id : ids) program.push_back(again(id));
        WarpRun::Choice choice{group, warp};
        choice.stop = [&job] { return job.stale(); };
        auto run = std::make_shared<const WarpRun>(name, program, choice);
        QStringList texts = linesOf(programText(job.trace().nodes().reader(), ids));
        return [this, run, ids, texts] { show(run, ids, texts, {}); };
      },
      [this](const QString& what) { show({}, {}, {}, what); });
}

void WarpModel::show(std::shared_ptr<const WarpRun> run, std::vector<NodeId> program, QStringList texts,
                     const QString& problem) {
  beginResetModel();
  run_ = std::move(run);
  program_ = std::move(program);
  texts_ = std::move(texts);
  problem_ = problem;
  busy_ = false;
  step_ = 0;
  endResetModel();
  Q_EMIT changed();
  Q_EMIT stepChanged();
}

QString WarpModel::remark() const {
  if (!run_) return {};
  if (!run_->fault().empty()) return QString::fromStdString(run_->fault());
  return run_->isCut() ? tr("The first %1 steps are shown.").arg(WarpRun::kMostSteps) : QString();
}

int WarpModel::threads() const {
  return run_ ? static_cast<int>(run_->size()) : 0;
}

const WarpStep* WarpModel::current() const {
  return step_ < stepCount() ? &run_->steps()[static_cast<size_t>(step_)] : nullptr;
}

int WarpModel::row() const {
  const WarpStep* step = current();
  return step ? static_cast<int>(step->node) : -1;
}

QString WarpModel::summary() const {
  const WarpStep* step = current();
  if (!step) return {};
  const int active = static_cast<int>(std::popcount(step->active));
  const QString who = active == threads() ? tr("all %1 threads").arg(active)
                                          : tr("%1 of %2 threads").arg(active).arg(threads());
  if (step->memory < 0)
    return tr("%1: %2").arg(texts_.value(row()).trimmed().section(QLatin1Char(' '), 0, 0), who);
  const auto& memory = run_->memories()[static_cast<size_t>(step->memory)];
  const WarpCost cost = run_->costOf(*step);
  const QString what = texts_.value(row()).trimmed().section(QLatin1Char(' '), 0, 0);
  const QString name = QString::fromStdString(memory.name);
  QString start = tr("%1 of %2 by %3").arg(what, name, who);
  if (memory.name.starts_with("registers")) return start;
  if (memory.shared)
    return start + (cost.passes == 1 ? tr(": 1 pass over the banks")
                                     : tr(": %1 passes over the banks").arg(cost.passes));
  return start +
         (cost.sectors == 1 ? tr(": 1 sector of 32 bytes")
                            : tr(": %1 sectors of 32 bytes").arg(cost.sectors)) +
         tr(", %1 if all bytes lay side by side").arg(cost.least);
}

QVariantList WarpModel::lanes() const {
  QVariantList out;
  const WarpStep* step = current();
  for (int t = 0; step && t < threads(); ++t) {
    const auto thread = static_cast<size_t>(t);
    const bool active = step->isActive(thread);
    QString value = active ? textOf(step->values[thread]) : QString();
    if (active && step->lanes > 1) value += QStringLiteral(" …");
    out.append(QVariantMap{
        {"number", t + static_cast<int>(run_->firstThread())}, {"active", active}, {"value", value}});
  }
  return out;
}

QVariantMap WarpModel::touched() const {
  const WarpStep* step = current();
  if (!step || step->memory < 0) return {};
  const auto& memory = run_->memories()[static_cast<size_t>(step->memory)];
  if (memory.name.starts_with("registers")) return {};
  const int64_t columns = memory.shared ? kBanks * kWord : kSector;
  std::map<int64_t, int> rows; // the first byte of a row, divided by its bytes
  auto each = [&](auto&& use) {
    for (size_t t = 0; t < step->elements.size(); ++t) {
      if (step->elements[t] < 0) continue;
      const int64_t begin = step->elements[t] * memory.elementBytes,
                    end = begin + step->count * memory.elementBytes;
      for (int64_t at = begin; at < end;) {
        const int64_t row = at / columns, next = std::min(end, (row + 1) * columns);
        use(static_cast<int>(t), row, at - row * columns, next - row * columns);
        at = next;
      }
    }
  };
  each([&](int, int64_t row, int64_t, int64_t) { rows[row] = 0; });
  QStringList labels;
  for (auto& [row, position] : rows) {
    position = static_cast<int>(labels.size());
    labels.append(tr("byte %1").arg(row * columns));
  }
  std::map<std::array<int64_t, 3>, std::vector<int>>
      threads; // of bytes that several threads access there is one cell
  each(
      [&](int thread, int64_t row, int64_t from, int64_t to) { threads[{row, from, to}].push_back(thread); });
  QVariantList cells;
  for (const auto& [at, of] : threads) {
    QVariantList numbers;
    for (const int thread : of) numbers.append(thread);
    cells.append(QVariantMap{{"threads", numbers},
                             {"row", rows[at[0]]},
                             {"from", static_cast<int>(at[1])},
                             {"to", static_cast<int>(at[2])}});
  }
  return {
      {"rows", labels}, {"columns", static_cast<int>(columns)}, {"shared", memory.shared}, {"cells", cells}};
}

void WarpModel::goToRow(int row) {
  for (int k = 1; k <= stepCount(); ++k) {
    const int at = (step_ + k) % stepCount();
    if (static_cast<int>(run_->steps()[static_cast<size_t>(at)].node) == row) return setStep(at);
  }
}

void WarpModel::select(int row) {
  if (row >= 0 && row < static_cast<int>(program_.size()))
    session_.setNode(static_cast<qlonglong>(program_[static_cast<size_t>(row)]));
}

int WarpModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(texts_.size());
}

QVariant WarpModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const auto node = static_cast<size_t>(index.row());
  switch (role) {
  case TextRole: return texts_[index.row()];
  case NumberRole: return index.row();
  case ThreadsRole: {
    QVariantList times;
    for (int t = 0; t < threads(); ++t)
      times.append(static_cast<int>(run_->executions(node, static_cast<size_t>(t))));
    return times;
  }
  case TimesRole: {
    int64_t most = 0;
    for (int t = 0; t < threads(); ++t) most = std::max(most, run_->executions(node, static_cast<size_t>(t)));
    return static_cast<int>(most);
  }
  default: return {};
  }
}

QHash<int, QByteArray> WarpModel::roleNames() const {
  return {{TextRole, "text"}, {NumberRole, "number"}, {ThreadsRole, "threads"}, {TimesRole, "times"}};
}

} // namespace uopscope
