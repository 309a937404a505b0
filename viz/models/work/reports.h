// Reports on a step and on a node for the right-hand pane, as maps for QML. The worker thread makes them,
// since provenance and users cost a walk over the graph.
//
//   QVariantMap step = stepReport(trace, view, 12);      // rule, ruleText, beforeHtml, afterHtml ...
//   QVariantMap node = nodeReport(trace, view, 12, 456, provenance);
#pragma once
#include "replay/read/provenance.h"
#include "viz/pictures/pass_view.h"

#include <QVariantMap>

namespace uopscope {

QVariantMap stepReport(Trace& trace, PassView& view, int64_t step);
/// `provenance` may be null; the parts that need it are then left out.
QVariantMap nodeReport(Trace& trace, PassView& view, int64_t step, NodeId node, Provenance* provenance);
/// Describes the nodes of a collapsed group.
QVariantMap groupReport(PassView& view, int64_t group);
/// "file.py:12", only the last part of the path.
QString shortPlace(const FileLine& at);
/// Amounts as the command line writes them (replay/schema/quantity_text.h): "12.3 µs", "13.2 MB", "12,345".
QString duration(int64_t ns);
QString amount(int64_t bytes);
QString grouped(int64_t number);
/// One text for one thing and another for many, whose %1 is the number: "1 run", "12,345 runs".
QString counted(int64_t number, const QString& one, const QString& many);

} // namespace uopscope
