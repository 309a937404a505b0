// Runs the checks of replay/compare on a background thread and turns their verdicts into sentences.
#include "viz/models/graph/checker.h"

#include "replay/compare/step_checker.h"
#include "replay/compare/value_check.h"
#include "replay/read/step_search.h"
#include "viz/models/work/reports.h"

namespace uopscope {
namespace {

constexpr size_t kMostFaults = 50;

} // namespace

Checker::Checker(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::stepInfoChanged, this, &Checker::forget);
  connect(&session_, &Session::opened, this, [this] {
    faults_.clear();
    survey_.clear();
    busy_ = false;
    forget();
  });
  connect(&session_.jobs(), &Jobs::progressed, this, [this](int channel, double share) {
    if (channel != static_cast<int>(Channel::Check)) return;
    progress_ = share;
    Q_EMIT changed();
  });
}

void Checker::forget() {
  answer_.clear();
  verdict_.clear();
  Q_EMIT changed();
}

void Checker::checkStep() {
  if (!session_.trace() || session_.step() < 1) {
    session_.showNotice(tr("Step to a rewrite first."));
    return;
  }
  session_.jobs().ask(Channel::Detail, [this, id = session_.traceStep()](Jobs::Job& job) -> Jobs::Answer {
    const ValueCheck c = uopscope::checkStep(job.trace(), id, 400);
    return [this, c] {
      using V = ValueCheck::Verdict;
      verdict_ = c.verdict == V::Same      ? QStringLiteral("same")
                 : c.verdict == V::Differs ? QStringLiteral("differs")
                                           : QStringLiteral("unknown");
      answer_ = c.verdict == V::Same
                    ? tr("The same value on %1 assignments, corners and random ones.").arg(c.samples)
                : c.verdict == V::Differs
                    ? tr("Not the same: %1 before and %2 after, for %3.")
                          .arg(QString::fromStdString(c.before), QString::fromStdString(c.after),
                               c.where.empty() ? tr("any values") : QString::fromStdString(c.where))
                    : tr("Nothing can be said: %1.").arg(QString::fromStdString(c.why));
      Q_EMIT changed();
    };
  });
}

void Checker::checkAll() {
  if (!session_.trace()) return;
  busy_ = true;
  progress_ = 0;
  survey_.clear();
  faults_.clear();
  Q_EMIT changed();
  session_.jobs().ask(
      Channel::Check,
      [this](Jobs::Job& job) -> Jobs::Answer {
        const ValueSurvey found =
            checkTrace(job.trace(), {.mostFaults = kMostFaults, .progress = [&job](double share) {
                                       job.progress(share, {});
                                       return !job.stale();
                                     }});
        QVariantList list;
        for (const auto& f : found.faults)
          list << QVariantMap{{"step", static_cast<qlonglong>(f.step)},
                              {"rule", QString::fromStdString(job.trace().rule(f.rule).name)},
                              {"where", QString::fromStdString(f.check.where)},
                              {"before", QString::fromStdString(f.check.before)},
                              {"after", QString::fromStdString(f.check.after)}};
        return [this, list, found] {
          busy_ = false;
          faults_ = list;
          survey_ =
              tr("%1 rewrites: %2 keep their value, %3 cannot be evaluated, %4 differ")
                  .arg(grouped(found.checked), grouped(found.same + found.unchanged), grouped(found.unknown))
                  .arg(grouped(found.differ));
          Q_EMIT changed();
          if (list.isEmpty())
            session_.showNotice(survey_);
          else
            session_.goToTraceStep(list.front().toMap()[QStringLiteral("step")].toLongLong());
        };
      },
      [this](const QString& what) {
        busy_ = false;
        survey_ = what;
        Q_EMIT changed();
      });
}

void Checker::cancel() {
  session_.jobs().cancel(Channel::Check);
  busy_ = false;
  survey_ = tr("Cancelled.");
  Q_EMIT changed();
}

} // namespace uopscope
