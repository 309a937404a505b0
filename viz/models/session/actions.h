// The one table of everything that can be done from the keyboard: shortcuts, the command palette, tooltips
// and the sheet of keys are all made from it, so they cannot disagree.
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
  const char* id;    ///< what Session::trigger and the window know it by
  const char* group; ///< heading on the sheet
  const char* text;  ///< what it does, as a person would say it
  const char* keys;  ///< separated by blanks; the first is shown
};
std::span<const Action> actionTable();
const Action* findAction(const QString& id);
/// Its text in the language of the window.
QString actionText(const Action& action);
/// As maps {id, group, text, keys: [..], shown} for QML.
/// `changed`: keys a person gave an action, by its id.
QVariantList actionList(const QMap<QString, QString>& changed = {});
/// "Ctrl+Shift+P" with arrows and names as on key caps.
QString keyCaps(const QString& sequence);

} // namespace uopscope
