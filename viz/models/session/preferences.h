// A person's settings between runs: recent files, keys, queries, the place of the window and its panes.
// Nothing is read or written before setPersistent(true), so tests never touch a person's settings.
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
  /// Gives an action different keys (separated by blanks); "default" restores the keys of the table. Where
  /// another action has a key already, it reports that action and changes nothing.
  Q_INVOKABLE bool setKeys(const QString& action, const QString& keys);
  QStringList recent() const { return recent_; }
  void addRecent(const QString& path);
  /// Scripts to begin with: [{name, path, about}].
  QVariantList samples() const;

Q_SIGNALS:
  void recentChanged();
  void actionsChanged();
  /// Reads the settings; stored() answers from then on.
  void read();
  void notice(const QString& text);

private:
  QStringList recent_;
  QMap<QString, QString> keys_;
  bool persistent_ = false;
};

} // namespace uopscope
