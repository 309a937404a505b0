// What a person's window keeps between runs: recent files, keys, queries, the place of the window and its
// panes. Nothing is read or written before setPersistent(true), so tests never touch anybody's settings.
//
//   preferences.setPersistent(true);  preferences.store("window/panes", widths);  preferences.stored("window/panes")
#pragma once
#include <QMap>
#include <QObject>
#include <QStringList>
#include <QVariant>

namespace uopscope {

class Preferences : public QObject {
  Q_OBJECT
  Q_PROPERTY(QVariantList actions READ actions NOTIFY actionsChanged)
  Q_PROPERTY(QStringList recent READ recent NOTIFY recentChanged)
  Q_PROPERTY(QVariantList samples READ samples CONSTANT)

public:
  using QObject::QObject;

  void setPersistent(bool on);
  Q_INVOKABLE QVariant stored(const QString& key) const;
  Q_INVOKABLE void store(const QString& key, const QVariant& value);

  QVariantList actions() const;
  /// Gives an action other keys (separated by blanks); those in the table again where `keys` is "default".
  /// Says which action has a key already, and changes nothing then.
  Q_INVOKABLE bool setKeys(const QString& action, const QString& keys);
  QStringList recent() const { return recent_; }
  void addRecent(const QString& path);
  /// Scripts to begin with: [{name, path, about}].
  QVariantList samples() const;

Q_SIGNALS:
  void recentChanged();
  void actionsChanged();
  /// From now on stored() answers.
  void read();
  void notice(const QString& text);

private:
  QStringList recent_;
  QMap<QString, QString> keys_;
  bool persistent_ = false;
};

} // namespace uopscope
