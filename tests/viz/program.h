// The program beside the tests, for panes that let it work.
//
//   w.tools.whatIf()->setProgram(program());
#pragma once
#include "tests/viz/support.h"

#include <QCoreApplication>
#include <QFile>
#include <QString>

namespace uopscope::test {

/// Its path; empty where it was not built.
inline QString program() {
  application(); // which knows its folder; a test that ran first, or alone, would find no program
  const QString path = QCoreApplication::applicationDirPath() + "/bin/uopscope";
  return QFile::exists(path) ? path : QString();
}

} // namespace uopscope::test
