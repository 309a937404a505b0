// A picture as a file: SVG with selectable text, or PNG, of the whole graph with its marks, whatever part is
// in view; and of anything else that is painted, as it is in view.
//
//   QString problem = savePicture(picture, palette, tinting, "graph.svg");      // empty: written
#pragma once
#include "viz/scene/picture_painter.h"

#include <QByteArray>
#include <functional>

namespace uopscope {

QByteArray pictureToSvg(const Picture& picture, const Palette& palette, const TintingPtr& tinting = nullptr);
/// By the ending of the name, .svg or .png; what went wrong in words, empty if nothing.
QString savePicture(const Picture& picture, const Palette& palette, const TintingPtr& tinting,
                    const QString& path);
/// What `paint` draws on `size`, likewise.
QString savePainted(const QString& path, const QSizeF& size, const QColor& background,
                    const std::function<void(QPainter&)>& paint);

} // namespace uopscope
