#include "viz/models/session/place.h"

#include "replay/read/names.h"

#include <QStringList>

namespace uopscope {

const QStringList& tabs() {
  static const QStringList all{"graph",   "source", "ir",     "asm",  "uops",  "stats",   "script",   "links",
                               "compare", "whatif", "values", "rule", "story", "profile", "timeline", "sql"};
  return all;
}

QString linkTo(const TraceIndex& trace, const Place& place) {
  if (!place.scope) return {};
  try {
    ResolvedLink at;
    at.scope = place.scope;
    at.pass = place.pass;
    at.step = place.step;
    const bool named = place.node >= 0 && place.node < static_cast<qlonglong>(kFirstViewNode);
    at.node = named ? static_cast<NodeId>(place.node) : kNoNode;
    at.tab = place.tab.toStdString();
    return QString::fromStdString(makeLink(trace.passes(at.scope), at).str());
  } catch (const std::exception&) {
    return {};
  }
}

ScopeId scopeOf(const TraceIndex& trace, const QString& text, const Place& here) {
  const Link link = Link::parse(text.trimmed().toStdString());
  return link.kernel.empty() ? here.scope : trace.findScope(link.kernel);
}

Place placeOf(const TraceIndex& trace, const QString& text, const Place& here) {
  Link link = Link::parse(text.trimmed().toStdString());
  Place place = here;
  const NodeId node = link.node.value_or(kNoNode);
  const bool samePass = link.kernel.empty() && link.pass.empty();
  if (samePass) {
    place.step = link.step.value_or(here.step);
  } else {
    place.scope = link.kernel.empty() ? here.scope : trace.findScope(link.kernel);
    place.pass = link.pass.empty() ? 0 : trace.findPass(place.scope, link.pass);
    place.step = link.step.value_or(0);
  }
  if (!link.tab.empty()) {
    place.tab = QString::fromStdString(link.tab);
    if (!tabs().contains(place.tab))
      throw Error(ErrorKind::Value, "there is no tab \"" + link.tab + "\": use " +
                                        tabs().join(QLatin1String(", ")).toStdString());
  }
  if (place.pass) {
    const PassInfo& pass = trace.pass(place.pass);
    if (place.step < 0 || place.step > pass.steps)
      throw Error(ErrorKind::Value, "pass \"" + pass.name + "\" has steps 0 to " +
                                        std::to_string(pass.steps) + ", not " + std::to_string(place.step));
    if (!link.step && !samePass) place.step = std::min<int64_t>(1, pass.steps);
  }
  if (node != kNoNode) {
    if (node > trace.facts().nodes && node < kFirstViewNode)
      throw Error(ErrorKind::Key, "node " + std::to_string(node) + ": there is no such node");
    place.node = node;
  }
  return place;
}

} // namespace uopscope
