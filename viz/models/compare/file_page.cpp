#include "viz/models/compare/file_page.h"

#include "viz/models/session/actions.h"

#include <QFileInfo>

namespace uopscope {

FilePage::FilePage(Session& session, const QString& state, QObject* parent)
    : QObject(parent), session_(session), state_(state) {
  connect(&session_, &Session::opened, this, [this] {
    if (session_.trace()) setShown(false);
  });
}

void FilePage::setShown(bool on) {
  if (on == shown_) return;
  shown_ = on;
  Q_EMIT changed();
}

void FilePage::setState(const QString& state) {
  state_ = state;
  Q_EMIT changed();
}

void FilePage::fail(const QString& what) {
  error_ = what;
  setState(QStringLiteral("error"));
}

bool FilePage::belongsToTrace(const QString& action) {
  const Action* a = findAction(action);
  const std::string_view group = a ? a->group : "";
  return group == "Steps" || group == "Graph" || group == "Understand" || group == "Conditions" ||
         action.startsWith(QLatin1String("tab-"));
}

QString FilePage::localPath(QString path) {
  if (path.startsWith(QLatin1String("file://"))) path.remove(0, 7);
  return QFileInfo(path).absoluteFilePath();
}

} // namespace uopscope
