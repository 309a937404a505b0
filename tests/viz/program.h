// The program beside the tests, for panes that let it work.
//
//   w.tools.whatIf()->setProgram(program());
#pragma once
#include <QCoreApplication>
#include <QFile>
#include <QString>

namespace uopscope::test {

/// Its path; empty where it was not built.
inline QString program() {
  const QString path = QCoreApplication::applicationDirPath() + "/bin/uopscope";
  return QFile::exists(path) ? path : QString();
}

} // namespace uopscope::test
