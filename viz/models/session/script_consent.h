// A trace names the script it was made of, and a trace may come from anyone. The window runs such a script only after it has
// named it and the user has asked once more.
//
//   if (mayRun(session, script)) session.record(script);
#pragma once
#include <QString>

namespace uopscope {

class Session;

/// True for a script that this window recorded before, and while the question about this script is the last notice; else asks.
bool mayRun(Session& session, const QString& script);

} // namespace uopscope
