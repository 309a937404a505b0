// Stores settings with QSettings, and only after setPersistent(true).
#include "viz/models/session/preferences.h"

#include "viz/models/session/actions.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QSettings>

namespace uopscope {
namespace {

constexpr int kRecentFiles = 8;

QSettings file() {
  return QSettings(QStringLiteral("uopscope"), QStringLiteral("uopscope"));
}

} // namespace

void Preferences::setPersistent(bool on) {
  persistent_ = on;
  if (!on) return;
  recent_ = file().value(QStringLiteral("recent")).toStringList();
  recent_.removeIf([](const QString& p) { return !QFileInfo::exists(p); });
  const QVariantMap keys = file().value(QStringLiteral("keys")).toMap();
  for (auto it = keys.begin(); it != keys.end(); ++it)
    if (findAction(it.key())) keys_[it.key()] = it.value().toString();
  Q_EMIT recentChanged();
  Q_EMIT actionsChanged();
  Q_EMIT read();
}

QVariant Preferences::stored(const QString& key) const {
  return persistent_ ? file().value(key) : QVariant();
}

void Preferences::store(const QString& key, const QVariant& value) {
  if (persistent_) file().setValue(key, value);
}

QVariantList Preferences::actions() const {
  return actionList(keys_);
}

bool Preferences::setKeys(const QString& action, const QString& wanted) {
  const Action* target = findAction(action);
  if (!target) return false;
  const QString table = QString::fromLatin1(target->keys);
  const QString keys = wanted == QLatin1String("default") ? table : wanted;
  for (const QString& key : keys.split(QLatin1Char(' '), Qt::SkipEmptyParts))
    for (const QVariant& v : actions()) {
      const QVariantMap a = v.toMap();
      if (a[QStringLiteral("id")].toString() == action) continue;
      for (const QString& taken : a[QStringLiteral("keys")].toStringList())
        if (taken.compare(key, Qt::CaseInsensitive) == 0) {
          Q_EMIT notice(
              tr("%1 is the key of \"%2\".").arg(keyCaps(key), a[QStringLiteral("text")].toString()));
          return false;
        }
    }
  if (keys == table)
    keys_.remove(action);
  else
    keys_[action] = keys;
  if (persistent_) {
    QVariantMap saved;
    for (auto it = keys_.begin(); it != keys_.end(); ++it) saved[it.key()] = it.value();
    file().setValue(QStringLiteral("keys"), saved);
  }
  Q_EMIT actionsChanged();
  return true;
}

QVariantList Preferences::samples() const {
  QVariantList out;
  const QString here = QCoreApplication::applicationDirPath();
  const QString named = qEnvironmentVariable("UOPSCOPE_SAMPLES");
  for (const QString& folder :
       {named, here + QStringLiteral("/../../samples"), here + QStringLiteral("/../samples"),
        here + QStringLiteral("/../share/uopscope/samples")}) {
    if (folder.isEmpty() || !QFileInfo(folder).isDir()) continue;
    for (const QFileInfo& f : QDir(folder).entryInfoList({QStringLiteral("*.py")}, QDir::Files, QDir::Name)) {
      // The first line of a sample describes its subject.
      QString about;
      QFile script(f.filePath());
      if (script.open(QIODevice::ReadOnly)) {
        for (int i = 0; i < 4 && about.isEmpty(); ++i) {
          QString line = QString::fromUtf8(script.readLine(400)).trimmed();
          while (line.startsWith(QLatin1Char('#')) || line.startsWith(QLatin1Char('"'))) line.remove(0, 1);
          if (!line.startsWith(QLatin1Char('!'))) about = line.trimmed();
        }
      }
      out << QVariantMap{{"name", f.fileName()}, {"path", f.canonicalFilePath()}, {"about", about}};
    }
    if (!out.isEmpty()) break;
  }
  return out;
}

void Preferences::addRecent(const QString& path) {
  if (!persistent_) return;
  recent_.removeAll(path);
  recent_.prepend(path);
  while (recent_.size() > kRecentFiles) recent_.removeLast();
  file().setValue(QStringLiteral("recent"), recent_);
  Q_EMIT recentChanged();
}

} // namespace uopscope
