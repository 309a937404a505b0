// Reads the steps and decisions of a pass. A growing pass only appends rows.
#include "viz/models/session/step_list_model.h"

#include "viz/models/work/reports.h"

namespace uopscope {

void StepListModel::setPass(Trace* trace, PassId pass) {
  std::vector<StepInfo> steps;
  Decisions decisions;
  if (trace && pass) {
    steps = trace->steps(pass);
    decisions = decisionsOf(*trace, pass);
  }
  const size_t before = steps_.size();
  if (trace == trace_ && pass == pass_ && steps.size() >= before) {
    if (steps.size() == before) return;
    decisions_ = std::move(decisions);
    beginInsertRows({}, static_cast<int>(before), static_cast<int>(steps.size()) - 1);
    steps_ = std::move(steps);
    endInsertRows();
  } else {
    beginResetModel();
    trace_ = trace;
    pass_ = pass;
    decisions_ = std::move(decisions);
    steps_ = std::move(steps);
    endResetModel();
  }
  times_.clear();
  rules_.clear();
  times_.reserve(static_cast<qsizetype>(steps_.size()));
  rules_.reserve(static_cast<qsizetype>(steps_.size()));
  for (const StepInfo& s : steps_) {
    times_ << static_cast<qreal>(s.ns);
    rules_ << static_cast<int>(s.rule);
  }
  Q_EMIT stepsChanged();
}

int64_t StepListModel::nextOfRule(int64_t from, int direction) const {
  if (from < 1 || from > count()) return 0;
  const RuleId rule = steps_[static_cast<size_t>(from - 1)].rule;
  for (int64_t k = from + direction; k >= 1 && k <= count(); k += direction)
    if (steps_[static_cast<size_t>(k - 1)].rule == rule) return k;
  return 0;
}

int64_t StepListModel::nextTouching(int64_t from, int direction, const std::set<NodeId>& nodes) const {
  for (int64_t k = from + direction; k >= 1 && k <= count(); k += direction) {
    const StepInfo& s = steps_[static_cast<size_t>(k - 1)];
    if (nodes.contains(s.before) || nodes.contains(s.after)) return k;
    for (NodeId end : {s.before, s.after})
      if (end != kNoNode)
        for (NodeId src : trace_->nodes().raw(end).src)
          if (nodes.contains(src)) return k;
  }
  return 0;
}

int64_t StepListModel::nextDecided(int64_t from, int direction) const {
  for (int64_t k = from + direction; k >= 1 && k <= count(); k += direction)
    if (decisions_.contains(steps_[static_cast<size_t>(k - 1)].id)) return k;
  return 0;
}

int StepListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant StepListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const StepInfo& s = steps_[static_cast<size_t>(index.row())];
  auto op = [&](NodeId id) {
    const auto name = opName(trace_->nodes().op(id));
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
  };
  try {
    switch (role) {
    case Qt::DisplayRole:
    case RuleRole: return QString::fromStdString(trace_->rule(s.rule).name);
    case NumberRole: return static_cast<qlonglong>(s.k);
    case BeforeRole: return op(s.before);
    case AfterRole: return s.after == kNoNode ? QString() : op(s.after);
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
