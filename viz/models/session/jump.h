// Jumping by name: what the palette lists of a trace (kernels, passes, script lines, rules, nodes by what
// they say), and where a choice leads. Kernels and nodes are told apart by where they come from, since many
// have one name.
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
  /// Lists what there is now; called when the palette opens.
  Q_INVOKABLE void prepare();
  /// An entry was chosen.
  Q_INVOKABLE void choose(const QVariantMap& entry);

private:
  /// Nodes of the whole trace by what they say; cancelled by the next search.
  void search(const QString& query);
  void goToNode(qulonglong id);
  Session& session_;
  PaletteModel palette_;
};

} // namespace uopscope
