// Draws the visible part of the graph: QPainter draws frames, and the scene graph shows them moved and
// scaled.
//
// The frame covers more than the view (kMargin on each side), so a small pan shows parts that are already
// drawn. A new frame is drawn when the view leaves it or the scale changes. While a worker draws, the last
// frame is shown.
#include "viz/models/work/hand_over.h"
#include "viz/scene/graph_canvas.h"
#include "viz/scene/node_numbers.h"

#include <QQuickWindow>
#include <QSGImageNode>
#include <QSGOpacityNode>
#include <QSGRectangleNode>
#include <cmath>
#include <utility>

namespace uopscope {
namespace {

constexpr double kMargin = 0.25;
// Most nodes and edges that are drawn at once: about 4 ms of QPainter.
constexpr size_t kCheapItems = 500;

} // namespace

bool GraphCanvas::cheap(const QRectF& area) const {
  if (!picture_) return true;
  if (picture_->nodes.size() + picture_->edges.size() <= kCheapItems) return true;
  if (scale_ < 0.25) return false;
  size_t visible = 0;
  for (const PictureNode& n : picture_->nodes)
    if (area.intersects(nodeRect(n)) && ++visible > kCheapItems / 4) return false;
  return picture_->edges.size() < kCheapItems * 8;
}

GraphCanvas::Frame GraphCanvas::draw(const Picture& picture, const Palette& palette,
                                     const TintingPtr& tinting, const QRectF& area, double scale,
                                     double dpr) {
  Frame f;
  f.area = area;
  f.scale = scale;
  f.image = QImage((area.size() * scale * dpr).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
  f.image.fill(palette.canvas);
  QPainter painter(&f.image);
  painter.scale(scale * dpr, scale * dpr);
  painter.translate(-area.topLeft());
  paintPicture(painter, picture, {palette, area, scale * dpr, tinting});
  return f;
}

// A step of the same pass fades in over the picture before it: no node moves, so only additions and removals
// are seen to change.
void GraphCanvas::show(Frame frame, PicturePtr picture) {
  const bool step = move_.state() != QAbstractAnimation::Running && drawn_ && picture && drawn_ != picture &&
                    drawn_->pass == picture->pass && drawn_->step != picture->step &&
                    qFuzzyCompare(base_.scale, frame.scale);
  if (step && theme_ && theme_->animated()) {
    before_ = std::move(base_);
    fade_.stop();
    fade_.start();
  } else if (drawn_ != picture) {
    fade_.stop();
    before_ = {};
  }
  base_ = std::move(frame);
  drawn_ = std::move(picture);
  newTextures_ = true;
}

void GraphCanvas::drawBase() {
  const QRectF view = viewRect();
  const bool covered = base_.area.contains(view) && qFuzzyCompare(base_.scale, scale_);
  if (!baseDirty_ && covered) return;
  if (!picture_ || !theme_ || width() < 1 || height() < 1) {
    show({}, nullptr);
    baseDirty_ = false;
    Q_EMIT settledChanged();
    return;
  }
  const double dpr = window() ? window()->effectiveDevicePixelRatio() : 1;
  const QRectF area = view.adjusted(-view.width() * kMargin, -view.height() * kMargin, view.width() * kMargin,
                                    view.height() * kMargin);
  if (cheap(area)) {
    show(draw(*moving(), theme_->colours(), source_->tinting(), area, scale_, dpr), picture_);
    baseDirty_ = false;
    Q_EMIT settledChanged();
    return;
  }
  if (drawing_) {
    again_ = true;
    return;
  }
  drawing_ = true;
  again_ = false;
  baseDirty_ = false;
  Q_EMIT settledChanged();
  startOn(painters_, [this, picture = picture_, palette = theme_->colours(), tinting = source_->tinting(),
                      area, scale = scale_, dpr] {
    auto frame = std::make_shared<Frame>(draw(*picture, palette, tinting, area, scale, dpr));
    handOver(this, [this, frame, picture, tinting] {
      drawing_ = false;
      show(std::move(*frame), picture);
      if (picture != picture_ || (source_ && tinting != source_->tinting())) baseDirty_ = true;
      again_ = false;
      redraw();
      Q_EMIT settledChanged();
    });
  });
}

void GraphCanvas::drawOverlay() {
  overlayDirty_ = false;
  newTextures_ = true;
  overlay_ = {};
  if (!picture_ || !theme_ || !source_) return;
  Emphasis em{hovered_, source_->selected(), source_->found(), source_->currentFound(), source_->notes()};
  const auto& numbers = source_->numbers();
  if ((em.hovered < 0 && em.selected < 0 && em.found.empty() && em.notes.empty() && numbers.empty()) ||
      width() < 1 || height() < 1)
    return;
  const double dpr = window() ? window()->effectiveDevicePixelRatio() : 1;
  overlay_.area = viewRect();
  overlay_.scale = scale_;
  overlay_.image = QImage((size() * dpr).toSize().expandedTo({1, 1}), QImage::Format_ARGB32_Premultiplied);
  overlay_.image.fill(Qt::transparent);
  QPainter painter(&overlay_.image);
  painter.scale(scale_ * dpr, scale_ * dpr);
  painter.translate(-overlay_.area.topLeft());
  const PaintOptions options{theme_->colours(), overlay_.area, scale_, nullptr};
  paintNumbers(painter, *picture_, numbers, options);
  paintEmphasis(painter, *picture_, em, options);
}

void GraphCanvas::updatePolish() {
  if (sizeBefore_.isValid()) resized(std::exchange(sizeBefore_, QSizeF()));
  drawBase();
  if (overlayDirty_ || overlay_.area != viewRect()) drawOverlay();
  update();
}

QSGNode* GraphCanvas::updatePaintNode(QSGNode* old, UpdatePaintNodeData*) {
  // Runs on the render thread while the GUI thread waits: it may read members, but drawing and signals belong
  // to updatePolish.
  // Transform nodes, though they move nothing: the software renderer correctly places later nodes only below
  // such a node.
  struct Layer : QSGTransformNode {
    QSGImageNode* image = nullptr;
  };
  struct Root : QSGTransformNode {
    QSGRectangleNode* back = nullptr;
    QSGOpacityNode* fade = nullptr;
    Layer *before = nullptr, *base = nullptr, *overlay = nullptr;
  };
  auto* root = static_cast<Root*>(old);
  if (!root) {
    root = new Root; // the scene graph owns it and its children
    root->back = window()->createRectangleNode();
    root->fade = new QSGOpacityNode;
    root->before = new Layer, root->base = new Layer, root->overlay = new Layer;
    root->appendChildNode(root->back);
    root->appendChildNode(root->before);
    root->appendChildNode(root->fade);
    root->fade->appendChildNode(root->base);
    root->appendChildNode(root->overlay);
    newTextures_ = true;
  }
  root->back->setRect(boundingRect());
  root->back->setColor(theme_ ? theme_->canvas() : QColor(Qt::black));
  root->fade->setOpacity(fade_.state() == QAbstractAnimation::Running ? fade_.currentValue().toDouble() : 1);
  auto show = [&](Layer* layer, const Frame& frame) {
    QSGImageNode*& node = layer->image;
    if (frame.image.isNull()) {
      if (node) {
        layer->removeChildNode(node);
        delete node;
        node = nullptr;
      }
      return;
    }
    const bool fresh = !node;
    if (fresh) {
      node = window()->createImageNode();
      node->setOwnsTexture(true);
    }
    if (fresh || newTextures_) node->setTexture(window()->createTextureFromImage(frame.image));
    if (fresh) layer->appendChildNode(node);
    node->setFiltering(QSGTexture::Linear);
    QRectF r = toScreen(frame.area);
    if (qFuzzyCompare(frame.scale, scale_))
      r.moveTopLeft(QPointF(std::round(r.x()), std::round(r.y()))); // whole pixels, for a crisp image
    node->setRect(r);
  };
  show(root->before, before_);
  show(root->base, base_);
  show(root->overlay, overlay_);
  newTextures_ = false;
  return root;
}

} // namespace uopscope
