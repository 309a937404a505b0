// Makes the C++ side known to QML as module uopscope.core: the singletons Theme and Session, and the drawn
// items.
//
//   QQmlEngine engine;  Theme theme;  Session session;  setUpEngine(engine, theme, session);
#pragma once
#include "viz/models/session/tools.h"
#include "viz/scene/theme.h"

class QQmlEngine;

namespace uopscope {

/// Each engine has its own theme and session; both must outlive it.
void setUpEngine(QQmlEngine& engine, Theme& theme, Session& session, Tools& tools);

/// Theme and text size as they were when a window was last open, and kept from now on; neither where the
/// session keeps no settings. Large text of a presentation goes with it.
void keepLook(Theme& theme, Session& session);

} // namespace uopscope
