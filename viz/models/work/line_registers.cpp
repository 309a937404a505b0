// Finds for each line its instruction with most registers in use.
#include "viz/models/work/line_registers.h"

#include "replay/schema/quantity_text.h"

#include <QObject>
#include <algorithm>

namespace uopscope {

namespace {

constexpr size_t kNamed = 9; ///< values that a tip names; it says how many more there are

std::vector<int64_t> instructionsOf(Trace& trace, ScopeId kernel, const std::string& kind,
                                    const LiveRanges& live) {
  std::vector<int64_t> found;
  if (kind == "uops") {
    for (size_t i = 0; i < live.alive.size(); ++i) found.push_back(static_cast<int64_t>(i));
    return found;
  }
  const std::vector<ArtifactInfo> texts = trace.artifacts(kernel);
  const auto last = std::find_if(texts.rbegin(), texts.rend(), [&](auto& t) { return t.kind == kind; });
  if (last == texts.rend()) return found;
  for (const TextLineInfo& l : trace.textLines(last->id)) {
    if (l.line < 1 || l.line > 10'000'000 || l.instruction >= live.alive.size()) continue;
    const auto row = static_cast<size_t>(l.line - 1);
    if (found.size() <= row) found.resize(row + 1, -1);
    if (found[row] < 0 || aliveOf(live, l.instruction) > aliveOf(live, static_cast<size_t>(found[row])))
      found[row] = l.instruction;
  }
  return found;
}

} // namespace

std::shared_ptr<const LineRegisters> LineRegisters::of(Trace& trace, ScopeId kernel,
                                                       const std::string& kind) {
  const auto facts = kernelRegisters(trace, kernel);
  if (!facts) return {};
  auto out = std::make_shared<LineRegisters>();
  out->facts_ = *facts;
  Pool pool;
  const std::vector<UOp> program = programOf(trace, kernel, pool);
  if (program.empty()) return {};
  out->live_ = liveRanges(program, facts->file);
  for (UOp u : program)
    out->names_.push_back(QString::fromStdString(std::string(opName(u.op())) + " " + u.dtype().name())
                              .remove(QLatin1String("dtypes.")));
  out->instruction_ = instructionsOf(trace, kernel, kind, out->live_);
  for (size_t row = 0; row < out->instruction_.size(); ++row) {
    const int alive = out->alive(static_cast<int>(row) + 1);
    if (alive > out->most_) out->most_ = alive, out->peakLine_ = static_cast<int>(row) + 1;
  }
  return out;
}

int LineRegisters::alive(int line) const {
  if (line < 1 || static_cast<size_t>(line) > instruction_.size()) return -1;
  const int64_t at = instruction_[static_cast<size_t>(line - 1)];
  return at < 0 ? -1 : static_cast<int>(aliveOf(live_, static_cast<size_t>(at)));
}

QString LineRegisters::who(int line) const {
  if (alive(line) < 0) return {};
  const auto at = static_cast<size_t>(instruction_[static_cast<size_t>(line - 1)]);
  std::vector<LiveValue> there = live_.aliveBehind(at);
  std::erase_if(there, [&](const LiveValue& v) { return v.isVector != facts_.file.hasVectors(); });
  QString text = QObject::tr("%1 of %2 registers in use").arg(alive(line)).arg(limit());
  for (size_t i = 0; i < std::min(kNamed, there.size()); ++i)
    text += QStringLiteral("\n") + QObject::tr("%1 of instruction %2, needed to %3")
                                       .arg(names_[there[i].made])
                                       .arg(there[i].made)
                                       .arg(there[i].until);
  if (there.size() > kNamed)
    text += QStringLiteral("\n") + QObject::tr("and %1 more").arg(there.size() - kNamed);
  return text;
}

QString LineRegisters::summary() const {
  QString text = QObject::tr("at most %1 of %2 registers in use").arg(facts_.most()).arg(limit());
  if (!facts_.used) return text;
  if (!facts_.used->spilledBytes) return text + QStringLiteral(", ") + QObject::tr("nothing spilled");
  return text + QStringLiteral(", ") +
         QObject::tr("%1 spilled").arg(QString::fromStdString(sizeText(facts_.used->spilledBytes)));
}

} // namespace uopscope
