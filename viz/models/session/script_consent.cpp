// The question itself is the state: a second request counts only while it is the last notice.
#include "viz/models/session/script_consent.h"

#include "viz/models/record/recording_process.h"
#include "viz/models/session/session.h"

#include <QFileInfo>

namespace uopscope {

bool mayRun(Session& session, const QString& script) {
  // The trace has the absolute path of a script that may have been opened through a different path.
  if (const QString recorded = session.recorder()->script();
      !recorded.isEmpty() && QFileInfo(recorded).absoluteFilePath() == QFileInfo(script).absoluteFilePath())
    return true;
  const QString question = Session::tr("The trace says that it was made of %1. Ask again to run that script.")
                               .arg(QFileInfo(script).absoluteFilePath());
  if (session.notice() == question) return true;
  session.showNotice(question);
  return false;
}

} // namespace uopscope
