#include "viz/scene/register.h"

#include "viz/scene/graph_canvas.h"
#include "viz/scene/icon.h"
#include "viz/scene/profile_view.h"
#include "viz/scene/strips.h"
#include "viz/scene/timeline_view.h"

#include <QQmlEngine>

namespace uopscope {
namespace {

constexpr const char* kUri = "uopscope.core";
constexpr const char* kTheme = "uopscopeTheme";
constexpr const char* kSession = "uopscopeSession";
constexpr const char* kTools = "uopscopeTools";

template <const char* const& name>
QObject* fromEngine(QQmlEngine* engine, QJSEngine*) {
  auto* object = engine->property(name).value<QObject*>();
  QQmlEngine::setObjectOwnership(object, QQmlEngine::CppOwnership);
  return object;
}

void registerTypes() {
  const QString notMade = QStringLiteral("made by the session");
  qmlRegisterSingletonType<Theme>(kUri, 1, 0, "Theme", fromEngine<kTheme>);
  qmlRegisterSingletonType<Session>(kUri, 1, 0, "Session", fromEngine<kSession>);
  qmlRegisterSingletonType<Tools>(kUri, 1, 0, "Tools", fromEngine<kTools>);
  qmlRegisterType<GraphCanvas>(kUri, 1, 0, "GraphCanvas");
  qmlRegisterType<MiniMap>(kUri, 1, 0, "MiniMap");
  qmlRegisterType<DensityStrip>(kUri, 1, 0, "DensityStrip");
  qmlRegisterType<Icon>(kUri, 1, 0, "Icon");
  qmlRegisterUncreatableType<GraphSource>(kUri, 1, 0, "GraphSource", notMade);
  qmlRegisterUncreatableType<TraceTreeModel>(kUri, 1, 0, "TraceTreeModel", notMade);
  qmlRegisterUncreatableType<StepListModel>(kUri, 1, 0, "StepListModel", notMade);
  qmlRegisterUncreatableType<StatsModel>(kUri, 1, 0, "StatsModel", notMade);
  qmlRegisterUncreatableType<CodeModel>(kUri, 1, 0, "CodeModel", notMade);
  qmlRegisterUncreatableType<PaletteModel>(kUri, 1, 0, "PaletteModel", notMade);
  qmlRegisterUncreatableType<Jump>(kUri, 1, 0, "Jump", notMade);
  qmlRegisterUncreatableType<Preferences>(kUri, 1, 0, "Preferences", notMade);
  qmlRegisterUncreatableType<GraphTools>(kUri, 1, 0, "GraphTools", notMade);
  qmlRegisterUncreatableType<Conditions>(kUri, 1, 0, "Conditions", notMade);
  qmlRegisterUncreatableType<SqlModel>(kUri, 1, 0, "SqlModel", notMade);
  qmlRegisterUncreatableType<ProfileModel>(kUri, 1, 0, "ProfileModel", notMade);
  qmlRegisterUncreatableType<WhyModel>(kUri, 1, 0, "WhyModel", notMade);
  qmlRegisterUncreatableType<Checker>(kUri, 1, 0, "Checker", notMade);
  qmlRegisterType<ProfileView>(kUri, 1, 0, "ProfileView");
  qmlRegisterUncreatableType<ComparedLines>(kUri, 1, 0, "ComparedLines", notMade);
  qmlRegisterUncreatableType<CompareModel>(kUri, 1, 0, "CompareModel", notMade);
  qmlRegisterUncreatableType<LiveControl>(kUri, 1, 0, "LiveControl", notMade);
  qmlRegisterUncreatableType<TimelineModel>(kUri, 1, 0, "TimelineModel", notMade);
  qmlRegisterUncreatableType<LinkedPanes>(kUri, 1, 0, "LinkedPanes", notMade);
  qmlRegisterUncreatableType<LinkedLines>(kUri, 1, 0, "LinkedLines", notMade);
  qmlRegisterUncreatableType<ReplayModel>(kUri, 1, 0, "ReplayModel", notMade);
  qmlRegisterUncreatableType<ReplayList>(kUri, 1, 0, "ReplayList", notMade);
  qmlRegisterUncreatableType<ReplayRows>(kUri, 1, 0, "ReplayRows", notMade);
  qmlRegisterUncreatableType<ReplayDetail>(kUri, 1, 0, "ReplayDetail", notMade);
  qmlRegisterType<TimelineView>(kUri, 1, 0, "TimelineView");
  qmlRegisterUncreatableType<FileChooser>(kUri, 1, 0, "FileChooser", notMade);
  qmlRegisterUncreatableType<Bookmarks>(kUri, 1, 0, "Bookmarks", notMade);
  qmlRegisterUncreatableType<RecordingProcess>(kUri, 1, 0, "RecordingProcess", notMade);
}

} // namespace

void setUpEngine(QQmlEngine& engine, Theme& theme, Session& session, Tools& tools) {
  [[maybe_unused]] static const bool once = (registerTypes(), true);
  theme.setEngine(engine);
  engine.setProperty(kTheme, QVariant::fromValue<QObject*>(&theme));
  engine.setProperty(kSession, QVariant::fromValue<QObject*>(&session));
  engine.setProperty(kTools, QVariant::fromValue<QObject*>(&tools));
  engine.addImportPath(QStringLiteral(":/qt/qml"));
}

void keepLook(Theme& theme, Session& session) {
  const QString kName = QStringLiteral("theme"), kScale = QStringLiteral("textScale");
  Preferences& kept = *session.preferences();
  if (const QVariant name = kept.stored(kName); name.isValid()) theme.setName(name.toString());
  if (const double scale = kept.stored(kScale).toDouble(); scale > 0) theme.setTextScale(scale);
  QObject::connect(&theme, &Theme::changed, &kept, [&theme, &kept, kName, kScale] {
    kept.store(kName, theme.name());
    if (!theme.presenting()) kept.store(kScale, theme.textScale());
  });
}

} // namespace uopscope
