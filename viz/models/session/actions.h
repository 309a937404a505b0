// The one table of all keyboard actions. Shortcuts, the command palette, tooltips and the sheet of keys are
// made from it, so they cannot disagree.
//
//   for (const Action& a : actionTable()) bind(a.keys, a.id);
#pragma once
#include <QMap>
#include <QString>
#include <QStringList>
#include <QVariantList>
#include <span>

namespace uopscope {

struct Action {
  const char* id;    ///< id for Session::trigger and the window
  const char* group; ///< heading on the sheet
  const char* text;  ///< the action in a person's words
  const char* keys;  ///< separated by blanks; the first is shown
};
std::span<const Action> actionTable();
const Action* findAction(const QString& id);
/// An action's text in the language of the window.
QString actionText(const Action& action);
/// The actions as maps {id, group, text, keys: [..], shown} for QML. `changed`: keys that a person gave an
/// action, by its id.
QVariantList actionList(const QMap<QString, QString>& changed = {});
/// "Ctrl+Shift+P" with arrows and names as printed on key caps.
QString keyCaps(const QString& sequence);

} // namespace uopscope
