// Collects the facts of a step or a node from trace, cursor and provenance into maps for QML.
#include "viz/models/work/reports.h"

#include "engine/docs/docs.h"
#include "engine/uop/sint.h"
#include "replay/read/decisions.h"
#include "replay/read/materialize.h"
#include "replay/read/readable.h"
#include "replay/read/text_diff.h"
#include "replay/schema/quantity_text.h"
#include "viz/models/work/rich_text.h"
#include "viz/models/work/text.h"
#include "viz/pictures/labels.h"

#include <QObject>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <map>

namespace uopscope {
namespace {

// Lists in the pane end after this many entries; a line tells how many more there are.
constexpr size_t kMaxListed = 40;
constexpr size_t kMaxExpression = 4000;
constexpr int kExpressionDepth = 10;

QVariantMap place(const FileLine& at) {
  return {{"file", text(at.file)}, {"line", at.line}, {"text", at.known() ? shortPlace(at) : QString()}};
}

QVariantMap brief(const NodeReader& read, NodeId id) {
  const PictureNode box = labelOf(read, read(id));
  return {{"id", static_cast<qlonglong>(id)},
          {"op", text(box.op)},
          {"detail", text(box.detail)},
          {"dtype", text(box.dtype)},
          {"family", static_cast<int>(box.family)}};
}

QVariantMap linkReport(Trace& trace, const ProvenanceLink& l, const NodeReader& read) {
  QVariantMap m{{"pass", static_cast<qlonglong>(l.pass)}, {"step", static_cast<qlonglong>(l.k)}};
  if (l.pass) m["passName"] = text(trace.pass(l.pass).name);
  if (l.maker == Maker::Rule && l.rule) {
    const RuleInfo& r = trace.rule(l.rule);
    m["rule"] = text(r.name);
    m["rulePlace"] = shortPlace(r.at);
  }
  m["kind"] = l.maker == Maker::Root      ? "root"
              : l.maker == Maker::Rule    ? "rule"
              : l.maker == Maker::Rebuilt ? "rebuilt"
                                          : "unknown";
  m["node"] = static_cast<qlonglong>(l.node);
  if (l.from != kNoNode) m["from"] = brief(read, l.from);
  if (l.node != kNoNode) m["what"] = brief(read, l.node);
  return m;
}

QVariantList linkReports(Trace& trace, const std::vector<ProvenanceLink>& links, const NodeReader& read) {
  QVariantList out;
  for (const ProvenanceLink& l : links) {
    if (static_cast<size_t>(out.size()) == kMaxListed) break;
    out << linkReport(trace, l, read);
  }
  return out;
}

void addFacts(QVariantList& facts, Cursor& cursor, NodeId id) {
  auto add = [&](const QString& key, const QString& value) {
    facts << QVariantMap{{"key", key}, {"value", value}};
  };
  // A trace may hold nodes that no engine of ours would make; the report then has fewer facts.
  try {
    Pool pool;
    PoolScope scope(pool);
    const UOp u = Materializer(cursor.reader(), pool)(id);
    try {
      if (u.hasShape()) add(QObject::tr("shape"), text(shapeStr(u.shape())));
    } catch (const std::exception&) { // such a node has no shape to tell
    }
    if ((u.dtype().isInt() || u.dtype().isBool()) && !u.dtype().isPtr() && u.dtype().count() == 1)
      add(QObject::tr("bounds"), QObject::tr("%1 to %2").arg(u.vmin()).arg(u.vmax()));
    std::string ranges;
    for (const UOp& r : u.ranges()) { // by the names that labels have
      const auto& loop = r.arg().as<RangeArg>();
      ranges += (ranges.empty() ? "" : ", ") + std::string(1, axisTypeLetter(loop.type));
      for (size_t k = 0; k < loop.ids.size(); ++k) ranges += (k ? "_" : "") + std::to_string(loop.ids[k]);
    }
    if (!ranges.empty()) add(QObject::tr("in loops"), text(ranges));
    const std::string device = u.device();
    if (!device.empty()) add(QObject::tr("device"), text(device));
  } catch (const std::exception& e) {
    add(QObject::tr("note"),
        QObject::tr("the engine cannot rebuild this node: %1").arg(QString::fromUtf8(e.what())));
  }
}

/// The engine's names of the loops of a graph ("r1") and the names that their boxes have ("L1").
std::map<QString, QString> loopNames(const NodeReader& read, const std::vector<NodeId>& graph) {
  std::map<QString, QString> names;
  for (const NodeId id : graph)
    if (const NodeFields n = read(id); n.op == Op::RANGE && n.arg.kind() == ArgKind::Range) {
      const QString name = text(readableExpression(read, id, 1, kMaxExpression));
      names[QLatin1Char('r') + name.mid(1)] = name;
    }
  return names;
}

/// "32 of r1" as "32 of L1".
QString named(const std::string& expression, const std::map<QString, QString>& loops) {
  static const QRegularExpression loop(QStringLiteral("\\br\\d+(?:_\\d+)*\\b"));
  const QString given = text(expression);
  QString out;
  qsizetype from = 0;
  for (auto all = loop.globalMatch(given); all.hasNext();) {
    const auto match = all.next();
    const auto known = loops.find(match.captured());
    out += given.mid(from, match.capturedStart() - from);
    out += known == loops.end() ? match.captured() : known->second;
    from = match.capturedEnd();
  }
  return out + given.mid(from);
}

// Bars show prices: the most expensive one has length 1.
QVariantMap decisionReport(const Decision& d, const std::map<QString, QString>& loops) {
  double dearest = d.price.value_or(0);
  for (const Decision::Alternative& other : d.others) dearest = std::max(dearest, other.price);
  auto bar = [&](double price) { return dearest > 0 ? std::clamp(price / dearest, 0.0, 1.0) : 0; };
  QVariantList bars;
  if (d.price && !d.others.empty())
    bars << QVariantMap{{"what", QObject::tr("chosen")},
                        {"price", text(priceText(d.price, {}))},
                        {"part", bar(*d.price)},
                        {"chosen", true},
                        {"number", 0},
                        {"more", QString()}};
  // Only a tile can be asked for by its text: `uopscope whatif --alternative`.
  static const QRegularExpression tile(QStringLiteral("^\\d+ of \\w+( with |$)"));
  int number = 0;
  for (const Decision::Alternative& other : d.others)
    bars << QVariantMap{{"number", tile.match(text(other.what)).hasMatch() ? ++number : (++number, 0)},
                        {"what", named(other.what, loops)},
                        {"price", text(priceText(other.price, {}))},
                        {"part", bar(other.price)},
                        {"chosen", false},
                        {"more", text(dearer(d, other))}};
  return {{"reason", named(d.reason, loops)},
          {"price", text(priceText(d.price, d.unit))},
          {"unit", text(d.unit)},
          {"bars", bars}};
}

} // namespace

QVariantMap groupReport(PassView& view, int64_t group) {
  const NodeReader read = view.cursor().reader();
  const auto members = view.groupMembers(group);
  QVariantList list, all;
  for (const NodeId id : members) {
    all << static_cast<qlonglong>(id);
    if (static_cast<size_t>(list.size()) < kMaxListed) list << brief(read, id);
  }
  return {
      {"id", static_cast<qlonglong>(group)},
      {"op", counted(static_cast<int64_t>(members.size()), QObject::tr("1 node"), QObject::tr("%1 nodes"))},
      {"doc", view.arrangement().groupBy == GroupBy::Layer
                  ? QObject::tr("A layer. A double click or Return opens it, Backspace leads back.")
                  : QObject::tr("A group. Double-click it to see its nodes.")},
      {"family", -1},
      {"between", true},
      {"facts", QVariantList()},
      {"expression", QString()},
      {"members", all},
      {"sources", list},
      {"sourceCount", static_cast<int>(members.size())},
      {"users", QVariantList()},
      {"userCount", 0}};
}

QString grouped(int64_t number) {
  return QString::fromStdString(countText(number));
}

QString counted(int64_t number, const QString& one, const QString& many) {
  return number == 1 ? one : many.arg(grouped(number));
}

QString duration(int64_t ns) {
  return QString::fromStdString(durationText(ns));
}

QString amount(int64_t bytes) {
  return QString::fromStdString(sizeText(bytes));
}

QString shortPlace(const FileLine& at) {
  if (!at.known()) return {};
  const std::string_view name = std::string_view(at.file).substr(at.file.rfind('/') + 1); // npos + 1 is 0
  return text(name) + (at.line > 0 ? QLatin1Char(':') + QString::number(at.line) : QString());
}

QVariantMap stepReport(Trace& trace, PassView& view, int64_t step) {
  Cursor& cursor = view.cursor();
  const NodeReader read = [&](NodeId id) { return cursor.fields(id); };
  QVariantMap m{{"step", static_cast<qlonglong>(step)}, {"passAt", place(cursor.info().at)}};
  const NodeId root = cursor.rootAt(std::clamp<int64_t>(step, 0, cursor.steps()));
  m["root"] = brief(read, root);
  m["graphSize"] = static_cast<int>(cursor.graphAt(std::clamp<int64_t>(step, 0, cursor.steps())).size());
  if (step < 1 || step > cursor.steps()) return m;
  const StepInfo info = cursor.step(step);
  const RuleInfo& rule = trace.rule(info.rule);
  m["rule"] = text(rule.name);
  m["ruleAt"] = place(rule.at);
  m["ruleText"] = text(rule.text);
  m["pattern"] = text(rule.pattern);
  m["time"] = duration(info.ns);
  m["kind"] = info.kind == StepKind::RewriteError ? "error" : info.kind == StepKind::WayDown ? "down" : "up";
  m["traceStep"] = static_cast<qlonglong>(info.id);
  QVariantList decisions;
  if (const std::vector<Decision> made = decisionsAt(trace, info.id); !made.empty()) {
    const auto loops = loopNames(read, cursor.graphAt(step - 1));
    for (const Decision& d : made) decisions << decisionReport(d, loops);
  }
  m["decisions"] = decisions;
  const QString before = text(readableExpression(read, info.before, kExpressionDepth, kMaxExpression));
  m["before"] = before;
  m["beforeNode"] = brief(read, info.before);
  if (info.kind == StepKind::RewriteError || info.after == kNoNode) {
    m["message"] = text(trace.stepMessage(info.id));
    m["beforeHtml"] = before.toHtmlEscaped();
    return m;
  }
  QString after = text(readableExpression(read, info.after, kExpressionDepth, kMaxExpression));
  const ExpressionDiff diff = diffExpressions(before, after);
  m["after"] = after;
  m["afterNode"] = brief(read, info.after);
  m["beforeHtml"] = diff.before;
  m["afterHtml"] = diff.after;
  m["unchanged"] = info.before == info.after;
  if (diff.same && info.before != info.after) {
    // Expressions leave out types and arguments of some operations; the trees then show the difference.
    QStringList lines;
    for (const std::string& l : lineDiff(printTree(read, info.before, 60), printTree(read, info.after, 60))) {
      const QString line = escaped(text(l));
      if (l.starts_with('-'))
        lines << QStringLiteral("<s><font color=\"@removed\">%1</font></s>").arg(line);
      else if (l.starts_with('+'))
        lines << QStringLiteral("<b><font color=\"@added\">%1</font></b>").arg(line);
      else
        lines << line;
    }
    m["treeHtml"] = lines.join(QLatin1String("<br>"));
  }
  return m;
}

QVariantMap nodeReport(Trace& trace, PassView& view, int64_t step, NodeId id, Provenance* provenance) {
  Cursor& cursor = view.cursor();
  const NodeReader read = [&](NodeId n) { return cursor.fields(n); };
  const NodeFields n = cursor.fields(id);
  QVariantMap m = brief(read, id);
  m["doc"] = text(opDoc(n.op));
  m["between"] = id >= kFirstViewNode;
  QVariantList facts;
  auto add = [&](const char* key, const QString& value) {
    facts << QVariantMap{{"key", text(key)}, {"value", value}};
  };
  if (!n.dtype.isVoid()) add("dtype", text(shortType(n.dtype)));
  if (n.arg) add("arg", text(n.arg.repr()));
  if (n.tag) add("tag", text(n.tag.repr()));
  addFacts(facts, cursor, id);
  m["facts"] = facts;
  m["expression"] = text(readableExpression(read, id, kExpressionDepth, kMaxExpression));

  QVariantList sources, users;
  for (size_t i = 0; i < n.src.size() && i < kMaxListed; ++i) {
    QVariantMap s = brief(read, n.src[i]);
    s["port"] = static_cast<int>(i);
    sources << s;
  }
  m["sources"] = sources;
  m["sourceCount"] = static_cast<int>(n.src.size());
  int userCount = 0;
  for (NodeId other : cursor.graphAt(std::clamp<int64_t>(step, 0, cursor.steps()))) {
    const auto src = cursor.raw(other).src;
    if (std::find(src.begin(), src.end(), id) == src.end()) continue;
    if (static_cast<size_t>(userCount++) < kMaxListed) users << brief(read, other);
  }
  m["users"] = users;
  m["userCount"] = userCount;

  if (provenance) {
    // Nodes between two steps exist only for this view; their provenance is that of the node they were made
    // from.
    try {
      const std::vector<ProvenanceLink> chain = provenance->chain(id);
      m["chain"] = linkReports(trace, chain, read);
      m["chainCount"] = static_cast<int>(chain.size());
      const std::vector<ProvenanceLink> fate = provenance->fate(id);
      m["fate"] = linkReports(trace, fate, read);
      QVariantList origins;
      for (const OriginInfo& o : provenance->origins(id))
        if (static_cast<size_t>(origins.size()) < kMaxListed)
          origins << QVariantMap{{"operation", text(o.operation)},
                                 {"doc", text(docOf("Tensor", o.operation))},
                                 {"place", place(o.script)}};
      m["origins"] = origins;
    } catch (const Error&) {
      m["chain"] = QVariantList();
    }
  }
  return m;
}

} // namespace uopscope
