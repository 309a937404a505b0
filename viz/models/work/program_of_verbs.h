// The program whose verbs the models run as children: uopscope, which the window's own program is not. Whoever builds the
// window names it; it is a property of the application object, so it ends with that.
//
//   setProgramOfVerbs("/usr/bin/uopscope");
//   Child child(programOfVerbs(), {"record", script});
#pragma once
#include <QCoreApplication>

namespace uopscope {

inline constexpr const char* kProgramOfVerbs = "programOfVerbs";

/// Needs the application object.
inline void setProgramOfVerbs(const QString& path) {
  QCoreApplication::instance()->setProperty(kProgramOfVerbs, path);
}
/// Without a name, the program itself.
inline QString programOfVerbs() {
  const QVariant named =
      QCoreApplication::instance() ? QCoreApplication::instance()->property(kProgramOfVerbs) : QVariant();
  return named.isValid() ? named.toString() : QCoreApplication::applicationFilePath();
}

} // namespace uopscope
