#include "viz/models/tools.h"

#include <algorithm>

namespace uopscope {

Tools::Tools(Session& session, QObject* parent)
    : QObject(parent), session_(session), graph_(session), conditions_(session), bookmarks_(session) {
  connect(&session_, &Session::uiAction, this, &Tools::trigger);
  connect(&session_, &Session::opened, this, [this] {
    if (playing()) play();
  });
  connect(&clock_, &QTimer::timeout, this, [this] {
    if (session_.busy()) return; // a picture at a time, however slow
    if (session_.step() >= session_.stepCount()) return play();
    session_.setStep(session_.step() + 1);
  });
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

bool Tools::trigger(const QString& action) {
  auto is = [&](const char* id) { return action == QLatin1String(id); };
  if (!session_.trace()) return false;
  if (graph_.trigger(action)) return true;
  if (is("play")) {
    play();
  } else if (is("faster") || is("slower")) {
    setSpeed(is("faster") ? speed_ * 2 : speed_ / 2);
    session_.showNotice(tr("%1 steps a second").arg(speed_));
  } else if (is("run-forward") || is("run-back")) {
    conditions_.run(is("run-forward") ? 1 : -1);
  } else if (is("bookmark")) {
    bookmarks_.add();
    session_.showNotice(tr("Bookmarked. Notes are under Marks, on the left."));
  } else {
    return false;
  }
  return true;
}

} // namespace uopscope
