// A background thread searches the steps; typing replaces a search that is still running.
#include "viz/models/session/conditions.h"

#include "replay/read/step_search.h"

namespace uopscope {

Conditions::Conditions(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::placeChanged, this, [this] {
    if (!sql_.empty() && session_.pass() != hitsOf_) look();
  });
  connect(&session_, &Session::opened, this, [this] {
    if (!sql_.empty()) look();
  });
}

void Conditions::setText(const QString& text) {
  if (text == text_) return;
  text_ = text;
  problem_.clear();
  count_ = -1;
  hits_.clear();
  try {
    sql_ = stepCondition(text.toStdString());
  } catch (const Error& e) {
    sql_.clear();
    problem_ = QString::fromUtf8(e.what());
  }
  Q_EMIT changed();
  if (!sql_.empty()) look();
}

// Counts the matching steps of the whole trace, and lists those of this pass.
void Conditions::look() {
  if (!session_.trace() || session_.pass() == 0) return;
  const PassId pass = session_.pass();
  hitsOf_ = pass;
  session_.jobs().ask(
      Channel::Detail,
      [this, sql = sql_, pass](Jobs::Job& job) -> Jobs::Answer {
        const int64_t count = countSteps(job.trace(), sql);
        QList<int> hits;
        for (const int64_t k : stepsOfPass(job.trace(), pass, sql)) hits << static_cast<int>(k);
        return [this, count, hits] {
          count_ = count;
          hits_ = hits;
          Q_EMIT changed();
        };
      },
      [this](const QString& what) {
        problem_ = what;
        Q_EMIT changed();
      });
}

void Conditions::run(int direction) {
  if (!session_.trace()) return;
  if (sql_.empty()) {
    session_.showNotice(problem_.isEmpty()
                            ? tr("Type a condition first (Ctrl G): rule:add-zero, op:ADD, node:12 ...")
                            : problem_);
    return;
  }
  if (!past_.contains(text_)) past_.prepend(text_);
  const StepId here =
      session_.step() > 0 ? session_.traceStep() : session_.traceStep() + (direction > 0 ? 0 : 1);
  session_.jobs().ask(
      Channel::Run,
      [this, sql = sql_, here, direction](Jobs::Job& job) -> Jobs::Answer {
        const StepId found = nextStep(job.trace(), here, sql, direction);
        return [this, found, direction] {
          if (found == 0)
            session_.showNotice(direction > 0 ? tr("It holds for no later step.")
                                              : tr("It held for no earlier step."));
          else
            session_.goToTraceStep(found);
        };
      },
      [this](const QString& what) {
        problem_ = what;
        Q_EMIT changed();
        session_.showNotice(what);
      });
}

} // namespace uopscope
