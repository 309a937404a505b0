// Colours, fonts and sizes of the whole window, as one object for QML and the canvas painter.
//
// The palette is derived from Okabe and Ito's: added is blue, removed orange, changed purple. Each always
// comes with a sign (+ - ~) and a line style (solid, dashed, double), so colour alone never carries meaning.
//
//   Theme.name = "light"; Theme.textScale = 1.5        // QML: import uopscope.core
#pragma once
#include "viz/pictures/picture.h"

#include <QColor>
#include <QFont>
#include <QJSEngine>
#include <QObject>
#include <array>

namespace uopscope {

/// The data that painters need, by value, since they run on other threads.
struct Palette {
  QColor window, panel, raised, hover, line, lineStrong, text, textMuted, textFaint, accent, accentText,
      selection;
  QColor added, removed, changed, error, warning, canvas, grid, edge, edgeStrong;
  QColor keyword, string, number, comment, type, function;
  std::array<QColor, kOpFamilyCount> family;
  std::array<QColor, 8> tint; ///< values told apart by colour: dtypes, lines ...
  std::array<QColor, 4> heat; ///< from little to much
  QString sans, mono;
  bool dark = true;
};
/// `contrast`: text at 12:1 and more, lines at 4.5:1.
Palette palette(bool dark, bool contrast = false);
/// The place in `tint` of a kind of work: "kernel", "pass", "launch" ...
size_t tintOf(std::string_view kind);
/// A colour between two: share 0 is `from`, 1 is `to`.
QColor mixed(const QColor& from, const QColor& to, float share);

class Theme : public QObject {
  Q_OBJECT
  Q_PROPERTY(QString name READ name WRITE setName NOTIFY changed)
  Q_PROPERTY(bool dark READ dark NOTIFY changed)
  Q_PROPERTY(qreal textScale READ textScale WRITE setTextScale NOTIFY changed)
  Q_PROPERTY(bool animated READ animated WRITE setAnimated NOTIFY changed)
  /// Whether the window shows larger text and only the graph and the step: for a projector.
  Q_PROPERTY(bool presenting READ presenting WRITE setPresenting NOTIFY changed)
  Q_PROPERTY(QString sans READ sans CONSTANT)
  Q_PROPERTY(QString mono READ mono CONSTANT)
  Q_PROPERTY(int body READ body NOTIFY changed)
  Q_PROPERTY(int small READ small NOTIFY changed)
  Q_PROPERTY(int title READ title NOTIFY changed)
  Q_PROPERTY(int huge READ huge NOTIFY changed)
  Q_PROPERTY(int row READ row NOTIFY changed)
  Q_PROPERTY(QJSValue px READ px NOTIFY changed)
#define UOPSCOPE_COLOUR(what) Q_PROPERTY(QColor what READ what NOTIFY changed)
  UOPSCOPE_COLOUR(window)
  UOPSCOPE_COLOUR(panel)
  UOPSCOPE_COLOUR(raised)
  UOPSCOPE_COLOUR(hover)
  UOPSCOPE_COLOUR(line)
  UOPSCOPE_COLOUR(lineStrong)
  UOPSCOPE_COLOUR(text)
  UOPSCOPE_COLOUR(textMuted)
  UOPSCOPE_COLOUR(textFaint)
  UOPSCOPE_COLOUR(accent)
  UOPSCOPE_COLOUR(accentText)
  UOPSCOPE_COLOUR(selection)
  UOPSCOPE_COLOUR(added)
  UOPSCOPE_COLOUR(removed)
  UOPSCOPE_COLOUR(modified)
  UOPSCOPE_COLOUR(error)
  UOPSCOPE_COLOUR(warning)
  UOPSCOPE_COLOUR(canvas)
#undef UOPSCOPE_COLOUR

public:
  explicit Theme(QObject* parent = nullptr);

  /// "dark", "light", "contrast" (white on black), "contrast-light" or "system".
  QString name() const { return name_; }
  void setName(const QString& name);
  bool dark() const { return palette_.dark; }
  /// 1 fits a desktop, 2 the back row of a classroom. The zoom of the canvas is independent of it.
  qreal textScale() const { return textScale_; }
  void setTextScale(qreal scale);
  bool presenting() const { return presenting_; }
  void setPresenting(bool on);
  /// Off in tests and screenshots, so that requested states appear at once.
  bool animated() const { return animated_; }
  void setAnimated(bool on);
  QString sans() const { return palette_.sans; }
  QString mono() const { return palette_.mono; }
  int body() const { return pixels(13); }
  int small() const { return pixels(11.5); }
  int title() const { return pixels(15); }
  int huge() const { return pixels(26); }
  int row() const { return pixels(26); }
  int pixels(qreal size) const { return qRound(size * textScale_); }
  /// px() for QML, as a property that holds a function: a binding that calls it follows the text size.
  QJSValue px() const { return px_; }
  void setEngine(QJSEngine& engine);
  Q_INVOKABLE QColor tintColour(int index, bool ordered) const;
  Q_INVOKABLE QColor familyColour(int family) const;
  Q_INVOKABLE QString familyName(int family) const;
  /// Rich text of the models with "@added", "@keyword" ... replaced by the theme's colours. `dark` is unused;
  /// a binding that passes it is evaluated again when the theme changes.
  Q_INVOKABLE QString rich(const QString& html, bool dark) const;

  QColor window() const { return palette_.window; }
  QColor panel() const { return palette_.panel; }
  QColor raised() const { return palette_.raised; }
  QColor hover() const { return palette_.hover; }
  QColor line() const { return palette_.line; }
  QColor lineStrong() const { return palette_.lineStrong; }
  QColor text() const { return palette_.text; }
  QColor textMuted() const { return palette_.textMuted; }
  QColor textFaint() const { return palette_.textFaint; }
  QColor accent() const { return palette_.accent; }
  QColor accentText() const { return palette_.accentText; }
  QColor selection() const { return palette_.selection; }
  QColor added() const { return palette_.added; }
  QColor removed() const { return palette_.removed; }
  QColor modified() const { return palette_.changed; }
  QColor error() const { return palette_.error; }
  QColor warning() const { return palette_.warning; }
  QColor canvas() const { return palette_.canvas; }
  const Palette& colours() const { return palette_; }

Q_SIGNALS:
  void changed();

private:
  void apply();
  QString name_ = QStringLiteral("dark");
  qreal textScale_ = 1, before_ = 1;
  bool animated_ = true, presenting_ = false;
  Palette palette_;
  QJSValue px_, makePx_;
};

} // namespace uopscope
