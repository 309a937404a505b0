// Writes a picture to a file: SVG with selectable text, or PNG, of the whole graph with its marks, whichever
// part is in view. It also writes other painted items, as they are in view.
//
//   QString problem = savePicture(picture, palette, tinting, "graph.svg");      // empty: written
#pragma once
#include "viz/scene/picture_painter.h"

#include <QByteArray>
#include <functional>

namespace uopscope {

QByteArray pictureToSvg(const Picture& picture, const Palette& palette, const TintingPtr& tinting = nullptr);
/// The extension of the name, .svg or .png, chooses the format. Returns an error text, empty on success.
QString savePicture(const Picture& picture, const Palette& palette, const TintingPtr& tinting,
                    const QString& path);
/// Writes the drawing of `paint` on `size`; the same rules apply.
QString savePainted(const QString& path, const QSizeF& size, const QColor& background,
                    const std::function<void(QPainter&)>& paint);

} // namespace uopscope
