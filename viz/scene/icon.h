// Line icons drawn from paths on a 16 x 16 grid, in any colour and size: no icon files, no icon font.
//
//   Icon { name: "search"; color: theme.textMuted; width: 16; height: 16 }
#pragma once
#include <qqml.h>

#include <QColor>
#include <QQuickPaintedItem>

namespace uopscope {

class Icon : public QQuickPaintedItem {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(QString name READ name WRITE setName NOTIFY changed)
  Q_PROPERTY(QColor color READ color WRITE setColor NOTIFY changed)

public:
  explicit Icon(QQuickItem* parent = nullptr);
  QString name() const { return name_; }
  void setName(const QString& name);
  QColor color() const { return color_; }
  void setColor(const QColor& color);
  void paint(QPainter* painter) override;

Q_SIGNALS:
  void changed();

private:
  QString name_;
  QColor color_ = Qt::gray;
};

} // namespace uopscope
