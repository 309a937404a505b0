// Owns the tools, and passes an action to the first tool that handles it.
#include "viz/models/session/tools.h"

#include "viz/models/session/script_consent.h"

#include <algorithm>

namespace uopscope {

Tools::Tools(Session& session, QObject* parent)
    : QObject(parent), session_(session), graph_(session), conditions_(session), bookmarks_(session),
      sql_(session), profile_(session), why_(session), checker_(session), compare_(session), live_(session),
      timeline_(session), linked_(session), llvm_(session), warp_(session), roofline_(session),
      whatIf_(session), hand_(session), values_(session), rule_(session), story_(session), bisect_(session),
      candidates_(session), editor_(session), replay_(session), experiment_(session), files_(session) {
  // A page in front of the trace sees actions first.
  session_.setActionFilter(
      [this](const QString& action) { return experiment_.trigger(action) || replay_.trigger(action); });
  connect(&experiment_, &ExperimentModel::compilationsReady, this, [this](const QStringList& files) {
    experiment_.setShown(false);
    replay_.openFiles(files);
  });
  connect(&session_, &Session::corpusAsked, &experiment_, [this] { experiment_.setShown(false); });
  connect(&session_, &Session::uiAction, this, &Tools::trigger);
  connect(&session_, &Session::opened, this, [this] {
    if (playing()) play();
  });
  connect(&whatIf_, &WhatIfModel::asked, this, [this] { session_.setTab(QStringLiteral("whatif")); });
  connect(&hand_, &HandModel::asked, this, [this] { session_.setTab(QStringLiteral("whatif")); });
  connect(&hand_, &HandModel::variantAsked, &whatIf_, &WhatIfModel::byHand);
  connect(&clock_, &QTimer::timeout, this, [this] {
    if (session_.busy()) return; // one picture at a time, even a slow one
    if (session_.step() >= session_.stepCount()) return play();
    session_.setStep(session_.step() + 1);
  });
}

Tools::~Tools() {
  session_.setActionFilter({});
}

void Tools::setSpeed(qreal speed) {
  speed_ = std::clamp(speed, 0.25, 64.0);
  clock_.setInterval(static_cast<int>(1000 / speed_));
  Q_EMIT playChanged();
}

void Tools::play() {
  if (playing()) {
    clock_.stop();
  } else if (session_.stepCount() > 0) {
    if (session_.step() >= session_.stepCount()) session_.setStep(0);
    clock_.start(static_cast<int>(1000 / speed_));
  }
  Q_EMIT playChanged();
}

// Records the trace's script again, and stops where the condition holds, or without one at the first rewrite.
void Tools::recordPaused() {
  const QString script = session_.trace() ? QString::fromStdString(session_.trace()->scriptFile().file)
                                          : session_.recorder()->script();
  if (!script.endsWith(QLatin1String(".py"))) return session_.showNotice(tr("Open a script first."));
  const QString breakpoint = breakpointOf(conditions_.text());
  if (!conditions_.text().isEmpty() && breakpoint.isEmpty())
    return session_.showNotice(tr("A recording can stop by rule:, op:, into:, pass: and kernel: only."));
  live_.setBreakpoints(breakpoint.isEmpty() ? QStringList() : QStringList{breakpoint});
  if (session_.trace() && !mayRun(session_, script)) return;
  live_.record(script);
}

bool Tools::trigger(const QString& action) {
  auto is = [&](const char* id) { return action == QLatin1String(id); };
  if (is("live-continue") || is("live-pause")) {
    live_.order(is("live-continue") ? QStringLiteral("continue") : QStringLiteral("pause"));
    return true;
  }
  if (is("record-paused")) {
    recordPaused();
    return true;
  }
  if (!session_.trace()) return false;
  if (graph_.trigger(action)) return true;
  if (is("play")) {
    play();
  } else if (is("faster") || is("slower")) {
    setSpeed(is("faster") ? speed_ * 2 : speed_ / 2);
    session_.showNotice(tr("%1 steps a second").arg(speed_));
  } else if (is("run-forward") || is("run-back")) {
    conditions_.run(is("run-forward") ? 1 : -1);
  } else if (is("why")) {
    if (why_.open())
      why_.setOpen(false);
    else
      why_.ask();
  } else if (is("numbers")) {
    values_.setOn(!values_.on());
  } else if (is("what-if")) {
    whatIf_.withoutStep();
  } else if (is("by-hand")) {
    hand_.begin();
  } else if (is("compare-mark")) {
    compare_.remember();
  } else if (is("compare-now")) {
    compare_.compareNow();
    session_.setTab(QStringLiteral("compare"));
  } else if (is("check")) {
    checker_.checkStep();
  } else if (is("check-all")) {
    checker_.checkAll();
  } else if (is("bookmark")) {
    bookmarks_.addAsking();
  } else if (is("next-mark") || is("previous-mark")) {
    bookmarks_.step(is("next-mark") ? 1 : -1);
  } else {
    return false;
  }
  return true;
}

} // namespace uopscope
