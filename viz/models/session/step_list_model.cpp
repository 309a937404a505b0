// Operations of rewritten nodes lie in packed blocks, so they are read for the rows that are looked at, a portion at a
// time.
#include "viz/models/session/step_list_model.h"

#include "viz/models/work/reports.h"

namespace uopscope {
namespace {

/// Rows whose operations are read at once.
constexpr int kPortion = 256;

std::unordered_map<NodeId, QString> opNames(Trace& trace, const std::vector<StepInfo>& steps, int portion) {
  std::unordered_map<NodeId, QString> out;
  const size_t first = static_cast<size_t>(portion) * kPortion,
               last = std::min(first + kPortion, steps.size());
  for (size_t i = first; i < last; ++i)
    for (const NodeId id : {steps[i].before, steps[i].after}) {
      if (id == kNoNode || out.contains(id)) continue;
      try {
        const auto name = opName(trace.nodes().op(id));
        out[id] = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
      } catch (const Error&) {
        out[id] = QStringLiteral("damaged");
      }
    }
  return out;
}

} // namespace

struct StepListModel::Rows {
  std::shared_ptr<const Steps> steps;
  Decisions decisions;
  std::unordered_map<NodeId, QString> ops;
};

void StepListModel::setPass(const TraceIndex* index, const PassInfo* pass) {
  const int count = pass ? static_cast<int>(std::min<int64_t>(pass->steps, INT_MAX)) : 0;
  const PassId id = pass ? pass->id : 0;
  const bool same = index == index_ && id == pass_;
  if (same && count == count_) return;
  waiting_.clear();
  if (same && count > count_) {
    beginInsertRows({}, count_, count - 1);
    count_ = count;
    endInsertRows();
  } else {
    beginResetModel();
    index_ = index, pass_ = id, count_ = count;
    steps_ = std::make_shared<const Steps>();
    decisions_.clear(), ops_.clear(), times_.clear(), rules_.clear();
    endResetModel();
  }
  wanted_.clear();
  readers_.jobs().cancel(Channel::Steps);
  readers_.jobs().cancel(Channel::StepNames);
  Q_EMIT stepsChanged();
  if (count_ > 0) load();
}

void StepListModel::load() {
  readers_.jobs().ask(Channel::Steps, [this, pass = pass_](Jobs::Job& job) -> Jobs::Answer {
    auto steps = std::make_shared<Steps>(job.trace().steps(pass));
    auto rows =
        std::make_shared<Rows>(Rows{steps, decisionsOf(job.trace(), pass), opNames(job.trace(), *steps, 0)});
    return [this, pass, rows] {
      if (pass == pass_) take(std::move(*rows));
    };
  });
}

void StepListModel::take(Rows rows) {
  const int there = static_cast<int>(rows.steps->size());
  if (there > count_) { // it has grown since
    beginInsertRows({}, count_, there - 1);
    count_ = there;
    endInsertRows();
  } else if (there < count_) { // a damaged trace has fewer than it says
    beginRemoveRows({}, there, count_ - 1);
    count_ = there;
    endRemoveRows();
  }
  steps_ = std::move(rows.steps);
  decisions_ = std::move(rows.decisions);
  ops_.merge(rows.ops);
  times_.clear(), rules_.clear();
  times_.reserve(count_), rules_.reserve(count_);
  for (const StepInfo& s : *steps_) {
    times_ << static_cast<qreal>(s.ns);
    rules_ << static_cast<int>(s.rule);
  }
  if (count_ > 0) Q_EMIT dataChanged(index(0), index(count_ - 1));
  Q_EMIT stepsChanged();
  for (const auto& then : std::exchange(waiting_, {})) then();
}

void StepListModel::whenLoaded(std::function<void()> then) {
  if (loaded()) return then();
  waiting_.push_back(std::move(then));
}

void StepListModel::wantNames(int row) const {
  if (!wanted_.insert(row / kPortion).second) return;
  // Rows ask while they are drawn: one job answers them together.
  QMetaObject::invokeMethod(
      const_cast<StepListModel*>(this), [this] { const_cast<StepListModel*>(this)->askNames(); },
      Qt::QueuedConnection);
}

void StepListModel::askNames() {
  if (wanted_.empty() || !index_) return;
  readers_.jobs().ask(
      Channel::StepNames,
      [this, pass = pass_, steps = steps_, portions = wanted_](Jobs::Job& job) -> Jobs::Answer {
        auto names = std::make_shared<std::unordered_map<NodeId, QString>>();
        for (const int portion : portions) names->merge(opNames(job.trace(), *steps, portion));
        return [this, pass, names, portions] {
          if (pass != pass_ || count_ == 0) return;
          ops_.merge(*names);
          for (const int portion : portions) {
            wanted_.erase(portion);
            const int first = portion * kPortion;
            if (first < count_)
              Q_EMIT dataChanged(index(first), index(std::min(first + kPortion, count_) - 1));
          }
        };
      });
}

QString StepListModel::opOf(NodeId node, int row) const {
  const auto known = ops_.find(node);
  if (known != ops_.end()) return known->second;
  wantNames(row);
  return {};
}

int64_t StepListModel::nextOfRule(int64_t from, int direction) const {
  if (from < 1 || from > std::ssize(*steps_)) return 0;
  const RuleId rule = (*steps_)[static_cast<size_t>(from - 1)].rule;
  for (int64_t k = from + direction; k >= 1 && k <= std::ssize(*steps_); k += direction)
    if ((*steps_)[static_cast<size_t>(k - 1)].rule == rule) return k;
  return 0;
}

int64_t StepListModel::nextDecided(int64_t from, int direction) const {
  for (int64_t k = from + direction; k >= 1 && k <= std::ssize(*steps_); k += direction)
    if (decisions_.contains((*steps_)[static_cast<size_t>(k - 1)].id)) return k;
  return 0;
}

int64_t nextTouching(Trace& trace, const std::vector<StepInfo>& steps, int64_t from, int direction,
                     const std::set<NodeId>& nodes, const std::function<bool()>& stale) {
  for (int64_t k = from + direction; k >= 1 && k <= std::ssize(steps) && !stale(); k += direction) {
    const StepInfo& s = steps[static_cast<size_t>(k - 1)];
    if (nodes.contains(s.before) || nodes.contains(s.after)) return k;
    for (const NodeId end : {s.before, s.after})
      if (end != kNoNode)
        for (const NodeId src : trace.nodes().raw(end).src)
          if (nodes.contains(src)) return k;
  }
  return 0;
}

int StepListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant StepListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const int row = index.row();
  if (role == NumberRole) return static_cast<qlonglong>(row + 1);
  if (row >= std::ssize(*steps_)) return role == DownRole ? QVariant(false) : QVariant(QString());
  const StepInfo& s = (*steps_)[static_cast<size_t>(row)];
  try {
    switch (role) {
    case Qt::DisplayRole:
    case RuleRole: return QString::fromStdString(index_->rule(s.rule).name);
    case BeforeRole: return opOf(s.before, row);
    case AfterRole: return s.after == kNoNode ? QString() : opOf(s.after, row);
    case TimeRole: return duration(s.ns);
    case FaultRole:
      return s.kind == StepKind::RewriteError ? QStringLiteral("error")
             : s.before == s.after            ? QStringLiteral("unchanged")
                                              : QString();
    case DownRole: return s.kind == StepKind::WayDown;
    case ReasonRole: {
      QStringList reasons;
      if (const auto made = decisions_.find(s.id); made != decisions_.end())
        for (const Decision& d : made->second) reasons << QString::fromStdString(d.reason);
      return reasons.join(QLatin1Char('\n'));
    }
    default: return {};
    }
  } catch (const Error&) {
    return QStringLiteral("damaged");
  }
}

QHash<int, QByteArray> StepListModel::roleNames() const {
  return {{NumberRole, "number"}, {RuleRole, "rule"},   {BeforeRole, "before"}, {AfterRole, "after"},
          {TimeRole, "time"},     {FaultRole, "fault"}, {DownRole, "down"},     {ReasonRole, "reason"}};
}

} // namespace uopscope
