// Links the generated registration of QML types, and stores the objects of the singletons in the engine.
#include "viz/scene/register.h"

#include "viz/scene/qml_types.h"

#include <QQmlEngine>

// qmltyperegistrar makes it from QML_ELEMENT. In a static library it is linked only if it is named.
extern void qml_register_types_uopscope_core();

namespace uopscope {

void setUpEngine(QQmlEngine& engine, Theme& theme, Session& session, Tools& tools) {
  [[maybe_unused]] volatile const auto types =
      &qml_register_types_uopscope_core; // the reference makes the linker keep it
  theme.setEngine(engine);
  engine.setProperty(singletons::kTheme, QVariant::fromValue<QObject*>(&theme));
  engine.setProperty(singletons::kSession, QVariant::fromValue<QObject*>(&session));
  engine.setProperty(singletons::kTools, QVariant::fromValue<QObject*>(&tools));
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
