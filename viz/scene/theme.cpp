// Two palettes, set by hand. Body text has a contrast of at least 7:1 to its background, muted text 4.5:1,
// lines of marks 3:1.
#include "viz/scene/theme.h"

#include <QFontDatabase>
#include <QGuiApplication>
#include <QPalette>
#include <algorithm>

namespace uopscope {
namespace {

QString firstInstalled(std::initializer_list<const char*> wanted, const QString& otherwise) {
  const QStringList families = QFontDatabase::families();
  for (const char* name : wanted)
    if (families.contains(QLatin1String(name), Qt::CaseInsensitive)) return QLatin1String(name);
  return otherwise;
}

} // namespace

Palette palette(bool dark, bool contrast) {
  Palette p;
  p.dark = dark;
  if (dark) {
    p.window = "#101318", p.panel = "#171b22", p.raised = "#1f242d", p.hover = "#262d38";
    p.line = "#262c36", p.lineStrong = "#3a4351", p.text = "#e6eaf0", p.textMuted = "#a4aebc",
    p.textFaint = "#74808f";
    p.accent = "#3cc4b0", p.accentText = "#06211d", p.selection = "#1d3b3d";
    p.added = "#5ab8f0", p.removed = "#f0a33c", p.changed = "#d992c3", p.error = "#ff7b6b",
    p.warning = "#f0d264";
    p.canvas = "#13161c", p.grid = "#1c2129", p.edge = "#5a6677", p.edgeStrong = "#9aa7b8";
    p.keyword = "#7db8ff", p.string = "#e2b86b", p.number = "#d9a0cf", p.comment = "#7f8b9a",
    p.type = "#5fcdb8", p.function = "#e8dd8a";
    p.family = {QColor("#8b95a3"), QColor("#d8bd45"), QColor("#2fb58a"), QColor("#4b9fe0"),
                QColor("#c987b4"), QColor("#9a8be0"), QColor("#59bfc4"), QColor("#e07a45"),
                QColor("#b3a65c"), QColor("#7a889c"), QColor("#a58f80"), QColor("#ff5d4d")};
  } else {
    p.window = "#eef0f3", p.panel = "#f8f9fb", p.raised = "#ffffff", p.hover = "#e8ecf1";
    p.line = "#dde2e8", p.lineStrong = "#b9c2cd", p.text = "#1a2029", p.textMuted = "#4d5967",
    p.textFaint = "#6f7b89";
    p.accent = "#00796b", p.accentText = "#ffffff", p.selection = "#d2ece8";
    p.added = "#0068a8", p.removed = "#b85600", p.changed = "#93457b", p.error = "#b3261e",
    p.warning = "#8a6a00";
    p.canvas = "#fbfcfd", p.grid = "#eceff3", p.edge = "#a5b0bd", p.edgeStrong = "#4d5967";
    p.keyword = "#0057ae", p.string = "#8a5200", p.number = "#8a2f73", p.comment = "#667280",
    p.type = "#00695c", p.function = "#6b5d00";
    p.family = {QColor("#7b8694"), QColor("#b39410"), QColor("#00875f"), QColor("#1f78b8"),
                QColor("#a8568c"), QColor("#6f5cc4"), QColor("#1c8f95"), QColor("#c65312"),
                QColor("#857826"), QColor("#5f6e82"), QColor("#80695a"), QColor("#c4281b")};
  }
  if (dark) {
    p.tint = {QColor("#56b4e9"), QColor("#e69f00"), QColor("#2fc79a"), QColor("#d992c3"),
              QColor("#f0e442"), QColor("#ff8a5c"), QColor("#a79bf0"), QColor("#9aa5b3")};
    p.heat = {QColor("#3d6b8f"), QColor("#7f9a5a"), QColor("#e0a23a"), QColor("#ff6a4d")};
  } else {
    p.tint = {QColor("#0072b2"), QColor("#b07800"), QColor("#00805c"), QColor("#a8568c"),
              QColor("#8a7d00"), QColor("#c8501f"), QColor("#6350c0"), QColor("#6b7684")};
    p.heat = {QColor("#7fa3bd"), QColor("#7a8f3c"), QColor("#c07a00"), QColor("#b3261e")};
  }
  if (contrast) {
    const QColor back = dark ? "#000000" : "#ffffff", fore = dark ? "#ffffff" : "#000000";
    p.window = p.canvas = p.panel = back;
    p.raised = dark ? "#0d0d0d" : "#ffffff", p.hover = dark ? "#2b2b2b" : "#dcdcdc";
    p.line = dark ? "#8c8c8c" : "#6a6a6a", p.lineStrong = fore;
    p.text = fore, p.textMuted = dark ? "#e8e8e8" : "#1c1c1c", p.textFaint = dark ? "#d0d0d0" : "#333333";
    p.edge = dark ? "#c4c4c4" : "#404040", p.edgeStrong = fore;
    p.accent = dark ? "#00ffd0" : "#005a4f", p.accentText = back;
    p.selection = dark ? "#00483c" : "#a6e3d8";
    p.added = dark ? "#6fc8ff" : "#004c8c", p.removed = dark ? "#ffb84d" : "#8c3a00",
    p.changed = dark ? "#ff9fe0" : "#701a5a", p.error = dark ? "#ff8f80" : "#9c0006",
    p.warning = dark ? "#ffe14d" : "#6b4e00";
    p.comment = p.textFaint;
  }
  static const QString sans =
      firstInstalled({"Inter", "Noto Sans", "Cantarell", "Ubuntu", "Open Sans", "DejaVu Sans"},
                     QStringLiteral("Sans Serif"));
  static const QString mono = firstInstalled({"JetBrains Mono", "Cascadia Code", "Source Code Pro",
                                              "Noto Sans Mono", "Ubuntu Mono", "DejaVu Sans Mono"},
                                             QStringLiteral("Monospace"));
  p.sans = sans;
  p.mono = mono;
  return p;
}

size_t tintOf(std::string_view kind) {
  return kind == "kernel"                     ? 2
         : kind == "schedule"                 ? 0
         : kind == "pass"                     ? 6
         : kind == "phase"                    ? 4
         : kind == "rule" || kind == "launch" ? 1
                                              : 7;
}

QColor mixed(const QColor& from, const QColor& to, float share) {
  auto part = [&](float a, float b) { return a + (b - a) * share; };
  return QColor::fromRgbF(part(from.redF(), to.redF()), part(from.greenF(), to.greenF()),
                          part(from.blueF(), to.blueF()));
}

Theme::Theme(QObject* parent) : QObject(parent) {
  apply();
}

void Theme::apply() {
  bool dark = name_ != QLatin1String("light");
  if (name_ == QLatin1String("system"))
    dark = QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
  if (name_.startsWith(QLatin1String("contrast"))) dark = name_ == QLatin1String("contrast");
  palette_ = palette(dark, name_.startsWith(QLatin1String("contrast")));
  Q_EMIT changed();
}

void Theme::setName(const QString& name) {
  static const QStringList known = {"dark", "light", "contrast", "contrast-light", "system"};
  if (name == name_ || !known.contains(name)) return;
  name_ = name;
  apply();
}

void Theme::setTextScale(qreal scale) {
  scale = std::clamp(scale, 0.8, 2.4);
  if (qFuzzyCompare(scale, textScale_)) return;
  textScale_ = scale;
  if (makePx_.isCallable()) px_ = makePx_.call({textScale_});
  Q_EMIT changed();
}

void Theme::setEngine(QJSEngine& engine) {
  makePx_ = engine.evaluate(
      QStringLiteral("(function(scale) { return function(size) { return Math.round(size * scale); }; })"));
  px_ = makePx_.call({textScale_});
}

void Theme::setPresenting(bool on) {
  if (on == presenting_) return;
  presenting_ = on;
  if (on) before_ = textScale_;
  const qreal wanted = on ? std::max(1.5, textScale_) : before_;
  if (qFuzzyCompare(wanted, textScale_))
    Q_EMIT changed();
  else
    setTextScale(wanted);
}

void Theme::setAnimated(bool on) {
  if (on == animated_) return;
  animated_ = on;
  Q_EMIT changed();
}

QColor Theme::tintColour(int index, bool ordered) const {
  if (index < 0) return palette_.textFaint;
  return ordered ? palette_.heat[static_cast<size_t>(index) % palette_.heat.size()]
                 : palette_.tint[static_cast<size_t>(index) % palette_.tint.size()];
}

QColor Theme::familyColour(int family) const {
  return family >= 0 && family < kOpFamilyCount ? palette_.family[static_cast<size_t>(family)]
                                                : palette_.textMuted;
}

QString Theme::familyName(int family) const {
  if (family < 0 || family >= kOpFamilyCount) return {};
  const auto name = opFamilyName(static_cast<OpFamily>(family));
  return tr(std::string(name).c_str());
}

QString Theme::rich(const QString& html, bool /*dark*/) const {
  const std::pair<const char*, const QColor*> names[] = {
      {"@keyword", &palette_.keyword}, {"@string", &palette_.string},  {"@number", &palette_.number},
      {"@comment", &palette_.comment}, {"@type", &palette_.type},      {"@function", &palette_.function},
      {"@added", &palette_.added},     {"@removed", &palette_.removed}};
  QString out = html;
  for (const auto& [name, colour] : names)
    out.replace(QLatin1String("\"") + QLatin1String(name) + QLatin1Char('"'),
                QLatin1Char('"') + colour->name() + QLatin1Char('"'));
  return out;
}

} // namespace uopscope
