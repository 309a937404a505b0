// Jumping by name: the palette's entries of a trace (kernels, passes, script lines, rules, nodes by their
// text), and the target of a choice. Many kernels and nodes share a name, so entries show their origin.
//
//   jump.prepare();  jump.palette()->setQuery("r_16");  jump.choose(jump.palette()->entry(0))
#pragma once
#include "viz/models/session/palette_model.h"

#include <QObject>

namespace uopscope {

class Session;

class Jump : public QObject {
  Q_OBJECT
  Q_PROPERTY(uopscope::PaletteModel* palette READ palette CONSTANT)

public:
  explicit Jump(Session& session);
  PaletteModel* palette() { return &palette_; }
  /// Lists the present entries; called when the palette opens.
  Q_INVOKABLE void prepare();
  /// Goes to the target of an entry.
  Q_INVOKABLE void choose(const QVariantMap& entry);

private:
  /// Searches nodes of the whole trace by their text; the next search cancels it.
  void search(const QString& query);
  void goToNode(qulonglong id);
  Session& session_;
  PaletteModel palette_;
};

} // namespace uopscope
