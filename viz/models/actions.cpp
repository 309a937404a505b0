// Keys follow what people of the rivals have in their fingers: arrows as in tinygrad's viewer, Ctrl+arrows as
// in IGV, n/b-style walking as in Turbolizer, F and ? as in Perfetto, Ctrl+P and Ctrl+Shift+P as in editors.
#include "viz/models/actions.h"

namespace uopscope {
namespace {

constexpr Action kActions[] = {
    {"next-step", "Steps", "Next rewrite", "Right K"},
    {"previous-step", "Steps", "Previous rewrite", "Left J"},
    {"next-pass", "Steps", "Next pass", "Down Ctrl+Right"},
    {"previous-pass", "Steps", "Previous pass", "Up Ctrl+Left"},
    {"next-kernel", "Steps", "Next kernel or schedule", "]"},
    {"previous-kernel", "Steps", "Previous kernel or schedule", "["},
    {"first-step", "Steps", "Beginning of the pass", "Home"},
    {"last-step", "Steps", "End of the pass", "End"},
    {"forward-many", "Steps", "Forward 10 rewrites", "PgDown"},
    {"back-many", "Steps", "Back 10 rewrites", "PgUp"},
    {"next-of-rule", "Steps", "Next rewrite by the same rule", "N"},
    {"previous-of-rule", "Steps", "Previous rewrite by the same rule", "B"},
    {"next-touching", "Steps", "Next rewrite touching the selection", "Shift+Right"},
    {"previous-touching", "Steps", "Previous one touching the selection", "Shift+Left"},
    {"wider", "Steps", "Changes of one step more", "Ctrl+Shift+Right"},
    {"narrower", "Steps", "Changes of one step less", "Ctrl+Shift+Left"},
    {"fit", "Graph", "Whole graph", "Space"},
    {"focus", "Graph", "Selected node, or what the step changed", "F"},
    {"show-change", "Graph", "What the step changed", "D"},
    {"zoom-in", "Graph", "Closer", "+ ="},
    {"zoom-out", "Graph", "Farther", "-"},
    {"zoom-reset", "Graph", "Actual size", "0"},
    {"go-source", "Graph", "To the selected node's first source", "I"},
    {"go-user", "Graph", "To a user of the selected node", "O"},
    {"follow", "Graph", "Follow the changes while stepping", "L"},
    {"fold", "Graph", "Constants and hubs into labels, or out", "C"},
    {"turn", "Graph", "Top to bottom, or left to right", "R"},
    {"map", "Graph", "Show or hide the overview", "M"},
    {"legend", "Graph", "Show or hide the legend", "Shift+L"},
    {"search", "Find", "Search nodes or lines", "/ Ctrl+F"},
    {"search-next", "Find", "Next one found", "F3"},
    {"search-previous", "Find", "Previous one found", "Shift+F3"},
    {"jump", "Find", "Jump to a kernel, pass, step or node", "Ctrl+P"},
    {"commands", "Find", "All commands", "Ctrl+Shift+P"},
    {"filter", "Find", "Filter the tree", "Ctrl+Shift+F"},
    {"back", "Find", "Back to where you were", "Alt+Left"},
    {"forward", "Find", "Forward again", "Alt+Right"},
    {"tab-graph", "View", "Graph", "1"},
    {"tab-source", "View", "Kernel source", "2"},
    {"tab-ir", "View", "LLVM IR", "3"},
    {"tab-asm", "View", "Assembly", "4"},
    {"tab-uops", "View", "Linear UOps", "5"},
    {"tab-stats", "View", "Match statistics", "6"},
    {"tab-script", "View", "Model script", "7"},
    {"toggle-left", "View", "Show or hide the left pane", "Ctrl+B"},
    {"toggle-right", "View", "Show or hide the right pane", "Ctrl+Alt+B"},
    {"theme", "View", "Dark or light", "T"},
    {"larger", "View", "Larger text", "Ctrl++ Ctrl+="},
    {"smaller", "View", "Smaller text", "Ctrl+-"},
    {"normal", "View", "Normal text", "Ctrl+0"},
    {"full-screen", "View", "Full screen", "F11"},
    {"open", "File", "Open a script or a trace", "Ctrl+O"},
    {"record-again", "File", "Record the script again", "Ctrl+R"},
    {"copy-link", "File", "Copy a link to what is shown", "Ctrl+L"},
    {"follow-link", "File", "Go to a link", "Ctrl+Shift+L"},
    {"close", "File", "Close the trace", "Ctrl+W"},
    {"keys", "File", "Sheet of keys", "? F1"},
    {"escape", "File", "Close what is open, clear the selection", "Esc"},
    {"quit", "File", "Quit", "Ctrl+Q"},
};

} // namespace

std::span<const Action> actionTable() {
  return kActions;
}

const Action* findAction(const QString& id) {
  for (const Action& a : kActions)
    if (id == QLatin1String(a.id)) return &a;
  return nullptr;
}

QString keyCaps(const QString& sequence) {
  QString s = sequence;
  const std::pair<const char*, const char*> names[] = {{"Right", "\u2192"},       {"Left", "\u2190"},
                                                       {"Down", "\u2193"},        {"Up", "\u2191"},
                                                       {"PgDown", "Page \u2193"}, {"PgUp", "Page \u2191"}};
  // A name is replaced only where it is the whole key, so that "PgDown" does not lose its end to "Down".
  QStringList parts = s == QLatin1String("+") ? QStringList{s} : s.split(QLatin1Char('+'));
  if (s.endsWith(QLatin1String("++"))) parts = QStringList{s.left(s.size() - 2), QStringLiteral("+")};
  for (QString& part : parts)
    for (const auto& [from, to] : names)
      if (part == QLatin1String(from)) part = QString::fromUtf8(to);
  return parts.join(QLatin1Char(' '));
}

QVariantList actionList() {
  QVariantList out;
  for (const Action& a : kActions) {
    const QStringList keys = QString::fromLatin1(a.keys).split(QLatin1Char(' '), Qt::SkipEmptyParts);
    QStringList caps;
    for (const QString& k : keys) caps << keyCaps(k);
    out << QVariantMap{{"id", QLatin1String(a.id)},
                       {"group", QLatin1String(a.group)},
                       {"text", QLatin1String(a.text)},
                       {"keys", keys},
                       {"caps", caps},
                       {"shown", caps.value(0)}};
  }
  return out;
}

} // namespace uopscope
