// Keys follow the habits of users of similar tools: arrows as in tinygrad's viewer, Ctrl+arrows as in IGV,
// n/b-style walking as in Turbolizer, F and ? as in Perfetto, Ctrl+P and Ctrl+Shift+P as in editors.
#include "viz/models/session/actions.h"

#include <QCoreApplication>

namespace uopscope {
namespace {

constexpr Action kActions[] = {
    {"next-step", "Steps", "Next rewrite", "Right J F10"},
    {"previous-step", "Steps", "Previous rewrite", "Left K Shift+F10"},
    {"next-pass", "Steps", "Next pass", "Down N Ctrl+Right"},
    {"previous-pass", "Steps", "Previous pass", "Up B Ctrl+Left"},
    {"next-kernel", "Steps", "Next kernel or schedule", "]"},
    {"previous-kernel", "Steps", "Previous kernel or schedule", "["},
    {"step-in", "Steps", "Step, into nested passes too", "F11"},
    {"step-in-back", "Steps", "The same backwards", "Ctrl+F11"},
    {"finish", "Steps", "Finish: on to the parent's step", "Shift+F11"},
    {"unfinish", "Steps", "Back to where the parent's step began", "Ctrl+Shift+F11"},
    {"first-step", "Steps", "Beginning of the pass", "Home"},
    {"last-step", "Steps", "End of the pass", "End"},
    {"forward-many", "Steps", "Forward 10 rewrites", "PgDown"},
    {"back-many", "Steps", "Back 10 rewrites", "PgUp"},
    {"next-changing", "Steps", "Next rewrite that changed something", "."},
    {"previous-changing", "Steps", "Previous one that changed something", ","},
    {"next-of-rule", "Steps", "Next rewrite by the same rule", "Shift+N"},
    {"previous-of-rule", "Steps", "Previous rewrite by the same rule", "Shift+B"},
    {"next-decided", "Steps", "Next rewrite that was decided by price or reason", "E"},
    {"previous-decided", "Steps", "Previous one that was decided", "Shift+E"},
    {"next-touching", "Steps", "Next rewrite touching the selection", "Shift+Right"},
    {"previous-touching", "Steps", "Previous one touching the selection", "Shift+Left"},
    {"wider", "Steps", "Changes of one step more", "Ctrl+Shift+Right Ctrl+Up"},
    {"narrower", "Steps", "Changes of one step less", "Ctrl+Shift+Left Ctrl+Down"},
    {"play", "Steps", "Play and pause", "Ctrl+Space"},
    {"faster", "Steps", "Play faster", ">"},
    {"slower", "Steps", "Play slower", "<"},
    {"condition", "Conditions", "Type a condition: rule:, op:, node: ...", "Ctrl+G"},
    {"run-forward", "Conditions", "Run on to where it holds", "F5"},
    {"run-back", "Conditions", "Run back to where it held", "Shift+F5"},
    {"live-continue", "Conditions", "Recording that is paused: go on", "F8"},
    {"live-pause", "Conditions", "Recording that runs: pause", "F6"},
    {"fit", "Graph", "Whole graph", "Space"},
    {"focus", "Graph", "Selected node, or what the step changed", "F"},
    {"show-change", "Graph", "What the step changed", "D"},
    {"zoom-in", "Graph", "Closer", "+ ="},
    {"zoom-out", "Graph", "Farther", "-"},
    {"zoom-reset", "Graph", "Actual size", "0"},
    {"reveal-inputs", "Graph", "Show the selection's inputs, or go to the first", "I"},
    {"reveal-outputs", "Graph", "Show what reads it, or go there", "O"},
    {"neighbourhood", "Graph", "Nothing but the selection and its neighbours", "U"},
    {"hide", "Graph", "Hide the selected node", "S"},
    {"show-all", "Graph", "Show everything again", "A"},
    {"pin", "Graph", "Keep the selected node where it is, or let go", "Shift+P"},
    {"group", "Graph", "Collapse by kernel, loop, reduction, tensor operation, script line, layer", "G"},
    {"level-down", "Graph", "Open the selected box", "Return Enter"},
    {"level-up", "Graph", "Back up to the layers around this one", "Backspace"},
    {"numbers", "Graph", "Numbers on the nodes, at chosen iterations", "Y"},
    {"colour", "Graph", "Colour by operation, type, axis, line, pass, cost", "Shift+C"},
    {"follow", "Graph", "Follow the changes while stepping", "L"},
    {"fold", "Graph", "Constants, hubs, short expressions and lanes drawn together, or each by itself", "C"},
    {"step-alone", "Graph", "What the step changes and its neighbourhood, or the whole pass", "Z"},
    {"turn", "Graph", "Top to bottom, or left to right", "R"},
    {"layout", "Graph", "Layout by uopscope, or by Graphviz", "Shift+R"},
    {"map", "Graph", "Show or hide the overview", "M"},
    {"legend", "Graph", "Show or hide the legend", "Shift+L"},
    {"input-1", "Graph", "To the selection's first source", "1"},
    {"input-2", "Graph", "Second source", "2"},
    {"input-3", "Graph", "Third source", "3"},
    {"input-4", "Graph", "Fourth source", "4"},
    {"input-5", "Graph", "Fifth source", "5"},
    {"input-6", "Graph", "Sixth source", "6"},
    {"input-7", "Graph", "Seventh source", "7"},
    {"input-8", "Graph", "Eighth source", "8"},
    {"input-9", "Graph", "Ninth source", "9"},
    {"maker", "Understand", "To the rewrite that made the selection", "H"},
    {"origin", "Understand", "To the script line the selection comes from", "P"},
    {"why", "Understand", "Why did no rule (or a chosen one) fire on the selection", "W"},
    {"check", "Understand", "Is this rewrite right: evaluate before and after", "V"},
    {"check-all", "Understand", "First rewrite of the trace that changes a value", "Shift+V"},
    {"what-if", "Understand", "What if this rewrite were not made: the kernel compiled again", "Shift+W"},
    {"by-hand", "Understand", "By hand from here: choose among all rules that match", "Shift+H"},
    {"compare-mark", "Understand", "Remember this state, to compare with", "X"},
    {"compare-now", "Understand", "Compare with the remembered state", "Shift+X"},
    {"replay", "Understand", "Two replays or traces: which kernels changed, and why", "Ctrl+Shift+D"},
    {"search", "Find", "Search nodes or lines", "/ Ctrl+F"},
    {"search-next", "Find", "Next one found", "F3"},
    {"search-previous", "Find", "Previous one found", "Shift+F3"},
    {"jump", "Find", "Jump to a kernel, pass, rule, step or node", "Ctrl+P"},
    {"commands", "Find", "All commands", "Ctrl+Shift+P"},
    {"filter", "Find", "Filter the tree", "Ctrl+Shift+F"},
    {"bookmark", "Find", "Bookmark this state", "Ctrl+D"},
    {"next-mark", "Find", "Talk: the next bookmark, with its note", "Alt+Down"},
    {"previous-mark", "Find", "Talk: the bookmark before", "Alt+Up"},
    {"back", "Find", "Back to where you were", "Alt+Left"},
    {"forward", "Find", "Forward again", "Alt+Right"},
    {"tab-graph", "View", "Graph", "Ctrl+1"},
    {"tab-source", "View", "Kernel source", "Ctrl+2"},
    {"tab-ir", "View", "LLVM IR", "Ctrl+Alt+2"},
    {"tab-asm", "View", "Assembly", "Ctrl+Alt+3"},
    {"tab-uops", "View", "Linear UOps", "Ctrl+Alt+4"},
    {"tab-links", "View", "Script to assembly, side by side", "Ctrl+3"},
    {"tab-script", "View", "Model script", "Ctrl+4"},
    {"tab-compare", "View", "Compare two states", "Ctrl+5"},
    {"tab-whatif", "View", "What if: variants of the kernel", "Ctrl+Alt+5"},
    {"tab-values", "View", "Values: the number of every node", "Ctrl+Alt+6"},
    {"tab-rule", "View", "Rule bench: a rule of your own on this trace", "Ctrl+Alt+7"},
    {"tab-story", "View", "Story: the kernel told in chapters", "Ctrl+Alt+8"},
    {"tab-stats", "View", "Match statistics", "Ctrl+6"},
    {"tab-profile", "View", "Where compile time goes", "Ctrl+7"},
    {"tab-timeline", "View", "Timeline and memory", "Ctrl+8"},
    {"tab-sql", "View", "SQL over the trace", "Ctrl+9 :"},
    {"toggle-left", "View", "Show or hide the left pane", "Ctrl+B"},
    {"toggle-right", "View", "Show or hide the right pane", "Ctrl+Alt+B"},
    {"theme", "View", "Dark or light", "T"},
    {"contrast", "View", "High contrast", "Shift+T"},
    {"larger", "View", "Larger text", "Ctrl++ Ctrl+="},
    {"smaller", "View", "Smaller text", "Ctrl+-"},
    {"normal", "View", "Normal text", "Ctrl+0"},
    {"present", "View", "Presenter: large text, the graph and the step alone", "F9"},
    {"full-screen", "View", "Full screen", "Alt+Return"},
    {"open", "File", "Open a script or a trace", "Ctrl+O"},
    {"record-again", "File", "Record the script again", "Ctrl+R"},
    {"record-paused", "File", "Record the script, pausing at the condition", "Ctrl+Shift+R"},
    {"export", "File", "Export the view: SVG, PNG, CSV, JSON", "Ctrl+E"},
    {"output", "File", "What the script printed", "Ctrl+U"},
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
  // A name is replaced only where it is the whole key; otherwise "PgDown" would lose its end to "Down".
  QStringList parts = s == QLatin1String("+") ? QStringList{s} : s.split(QLatin1Char('+'));
  if (s.endsWith(QLatin1String("++"))) parts = QStringList{s.left(s.size() - 2), QStringLiteral("+")};
  for (QString& part : parts)
    for (const auto& [from, to] : names)
      if (part == QLatin1String(from)) part = QString::fromUtf8(to);
  return parts.join(QLatin1Char(' '));
}

QString actionText(const Action& action) {
  return QCoreApplication::translate("actions", action.text);
}

QVariantList actionList(const QMap<QString, QString>& changed) {
  QVariantList out;
  for (const Action& a : kActions) {
    const QString text = changed.value(QLatin1String(a.id), QString::fromLatin1(a.keys));
    const QStringList keys = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    QStringList caps;
    for (const QString& k : keys) caps << keyCaps(k);
    out << QVariantMap{{"id", QLatin1String(a.id)},
                       {"group", QCoreApplication::translate("actions", a.group)},
                       {"text", actionText(a)},
                       {"keys", keys},
                       {"caps", caps},
                       {"changed", changed.contains(QLatin1String(a.id))},
                       {"shown", caps.value(0)}};
  }
  return out;
}

} // namespace uopscope
