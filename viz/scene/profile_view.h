// Draws the flame graph and the treemap of a profile; hovering describes a box, a click zooms, a double click
// follows.
//
//   ProfileView { model: Tools.profile; theme: Theme; mode: "flame"; onOpened: node =>
//   Tools.profile.follow(node) }
#pragma once
#include "viz/models/numbers/profile.h"
#include "viz/scene/theme.h"

#include <qqml.h>

#include <QPointer>
#include <QQuickPaintedItem>
#include <optional>

namespace uopscope {

class ProfileView : public QQuickPaintedItem {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(uopscope::ProfileModel* model READ model WRITE setModel NOTIFY changed)
  Q_PROPERTY(uopscope::Theme* theme READ theme WRITE setTheme NOTIFY changed)
  Q_PROPERTY(QString mode READ mode WRITE setMode NOTIFY changed)
  /// Boxes whose names contain this text stand out.
  Q_PROPERTY(QString highlight READ highlight WRITE setHighlight NOTIFY changed)
  Q_PROPERTY(int hovered READ hovered NOTIFY hoveredChanged)
  /// Number of boxes too small to draw.
  Q_PROPERTY(int leftOut READ leftOut NOTIFY changed)

public:
  explicit ProfileView(QQuickItem* parent = nullptr);
  ProfileModel* model() const { return model_; }
  void setModel(ProfileModel* model);
  Theme* theme() const { return theme_; }
  void setTheme(Theme* theme);
  QString mode() const { return mode_; }
  void setMode(const QString& mode);
  QString highlight() const { return highlight_; }
  void setHighlight(const QString& text);
  int hovered() const { return hovered_; }
  int leftOut() const { return leftOut_; }
  void paint(QPainter* painter) override;
  /// Writes the visible part as .svg or .png. Returns an error text, empty on success.
  Q_INVOKABLE QString exportTo(const QString& path);
  Q_INVOKABLE int boxAt(qreal x, qreal y) const;
  /// Middle of a node's box on the item, for tests.
  Q_INVOKABLE QPointF middleOf(int node) const;

Q_SIGNALS:
  void changed();
  void hoveredChanged();
  void opened(int node);

protected:
  void geometryChange(const QRectF& now, const QRectF& before) override;
  void hoverEnterEvent(QHoverEvent* event) override { hoverMoveEvent(event); }
  void hoverMoveEvent(QHoverEvent* event) override;
  void hoverLeaveEvent(QHoverEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
  void arrange();
  QPointer<ProfileModel> model_;
  QPointer<Theme> theme_;
  QString mode_ = QStringLiteral("flame"), highlight_;
  std::vector<ProfileBox> boxes_;
  int hovered_ = -1, leftOut_ = 0;
  int pressed_ = -1;                   ///< box under the first press of a double click
  std::optional<quint64> pressedWhen_; ///< ms on the clock of the events; none before the first press
};

} // namespace uopscope
