// Registers the C++ side in QML as module uopscope.core: the singletons Theme and Session, and the drawn
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

/// Restores theme and text size of the last window, and stores later changes; does neither where the session
/// keeps no settings. The larger text of a presentation is not stored.
void keepLook(Theme& theme, Session& session);

} // namespace uopscope
