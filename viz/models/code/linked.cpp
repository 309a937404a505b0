// A background thread loads the lines and, for each instruction, the rows of every pane that belong to it. A
// selection is then a union of sets.
#include "viz/models/code/linked.h"

#include "replay/read/kernel_lines.h"
#include "replay/read/provenance.h"
#include "viz/models/work/reports.h"
#include "viz/pictures/labels.h"

#include <QFileInfo>
#include <algorithm>
#include <map>

namespace uopscope {

void LinkedLines::setLines(std::vector<Line> lines, Language language) {
  beginResetModel();
  lines_ = std::move(lines);
  lit_.clear();
  language_ = language;
  endResetModel();
  Q_EMIT changed();
  Q_EMIT litChanged();
}

void LinkedLines::setLit(QSet<int> rows) {
  if (rows == lit_) return;
  lit_ = std::move(rows);
  if (count() > 0) Q_EMIT dataChanged(index(0), index(count() - 1), {LitRole});
  Q_EMIT litChanged();
}

int LinkedLines::firstLit() const {
  return lit_.isEmpty() ? -1 : *std::min_element(lit_.begin(), lit_.end());
}

int LinkedLines::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant LinkedLines::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  const Line& l = lines_[static_cast<size_t>(index.row())];
  switch (role) {
  case TextRole: return l.text;
  case HtmlRole: return highlightLine(withoutTabs(l.text.left(400)), language_);
  case LitRole: return lit_.contains(index.row());
  case NumberRole: return l.number;
  case KnownRole: return l.known;
  case ColourRole: return l.colour;
  case OfRole: return l.of;
  default: return {};
  }
}

QHash<int, QByteArray> LinkedLines::roleNames() const {
  return {{TextRole, "text"},   {HtmlRole, "html"},     {LitRole, "lit"}, {NumberRole, "number"},
          {KnownRole, "known"}, {ColourRole, "colour"}, {OfRole, "of"}};
}

struct LinkedPanes::Loaded {
  std::vector<LinkedLines::Line> script, tensors, uops, source, assembly;
  std::vector<Instruction> instructions;
  QString cost, missing;
};

LinkedPanes::LinkedPanes(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::opened, this, [this] { loaded_ = -1; });
  connect(&session_, &Session::grown, this, [this] { loaded_ = -1; });
  connect(&session_, &Session::placeChanged, this, [this] {
    const QString tab = session_.tab();
    for (const char* linked : {"links", "source", "asm", "uops"})
      if (tab == QLatin1String(linked)) load();
  });
  connect(&session_, &Session::nodeChanged, this, &LinkedPanes::lightSelected);
}

// An instruction belongs to the rarest of its operations; a line, to that of most of its instructions.
void LinkedPanes::colour(Loaded& loaded) {
  std::vector<int> size(loaded.tensors.size(), 0);
  for (const Instruction& in : loaded.instructions)
    for (const int row : in.tensors) ++size[static_cast<size_t>(row)];
  std::vector<int> own(loaded.instructions.size(), -1);
  for (size_t i = 0; i < own.size(); ++i)
    if (!loaded.instructions[i].operand)
      for (const int row : loaded.instructions[i].tensors)
        if (own[i] < 0 || std::pair(size[static_cast<size_t>(row)], row) <
                              std::pair(size[static_cast<size_t>(own[i])], own[i]))
          own[i] = row;
  auto paint = [&](LinkedLines::Line& line, int row) {
    line.colour = row;
    if (row >= 0) line.of = loaded.tensors[static_cast<size_t>(row)].text;
  };
  auto paintLines = [&](std::vector<LinkedLines::Line>& lines, QSet<int> Instruction::* rows) {
    std::vector<std::map<int, int>> votes(lines.size());
    for (size_t i = 0; i < own.size(); ++i)
      if (own[i] >= 0)
        for (const int row : loaded.instructions[i].*rows) ++votes[static_cast<size_t>(row)][own[i]];
    for (size_t k = 0; k < lines.size(); ++k)
      if (!votes[k].empty())
        paint(lines[k], std::ranges::max_element(votes[k], {}, &std::pair<const int, int>::second)->first);
  };
  for (size_t i = 0; i < own.size(); ++i) paint(loaded.uops[i], own[i]);
  for (size_t k = 0; k < loaded.tensors.size(); ++k) paint(loaded.tensors[k], static_cast<int>(k));
  paintLines(loaded.script, &Instruction::script);
  paintLines(loaded.source, &Instruction::source);
  paintLines(loaded.assembly, &Instruction::assembly);
}

void LinkedPanes::load() {
  if (!session_.trace() || loaded_ == session_.scope()) return;
  loaded_ = session_.scope();
  session_.jobs().ask(Channel::Linked, [this, scope = session_.scope()](Jobs::Job& job) -> Jobs::Answer {
    Trace& trace = job.trace();
    auto out = std::make_shared<Loaded>();
    const KernelLines lines(trace, scope);
    const std::vector<NodeId>& program = lines.program();
    if (program.empty())
      out->missing =
          (trace.scope(scope).kind == ScopeKind::Kernel
               ? tr("%1 was recorded without its linear program: record the script again to link it.")
               : tr("%1 is no kernel: choose one in the tree."))
              .arg(QString::fromStdString(trace.scope(scope).name));
    const std::string file = trace.scriptName();
    if (const auto text = file.empty() ? std::nullopt : trace.fileText(file)) {
      int number = 0;
      for (const QString& l : QString::fromStdString(*text).split(QLatin1Char('\n')))
        out->script.push_back({l, ++number, false, {}});
    }
    for (const auto& [kind, into] : {std::pair("source", &out->source), {"asm", &out->assembly}})
      for (int64_t n = 1; n <= lines.lineCount(kind); ++n)
        into->push_back({QString::fromStdString(lines.lineText(kind, n)), static_cast<int>(n), false, {}});
    Provenance provenance(trace, scope);
    const NodeReader read = trace.nodes().reader();
    std::map<std::string, int> tensorRow;
    for (uint32_t i = 0; i < program.size() && !job.stale(); ++i) {
      Instruction in;
      in.node = program[i];
      const PictureNode box = labelOf(read, read(in.node));
      out->uops.push_back(
          {QString::fromStdString(box.op + "  " + (box.detail.empty() ? box.dtype : box.detail)),
           static_cast<int>(i), true, QStringLiteral("node=%1&tab=graph").arg(in.node)});
      for (const TextPlace& p : lines.places(i)) {
        auto* into = p.text == "source" ? &out->source : p.text == "asm" ? &out->assembly : nullptr;
        if (!into || p.line < 1 || p.line > static_cast<int64_t>(into->size())) continue;
        (*into)[static_cast<size_t>(p.line - 1)].known = true;
        (p.text == "source" ? in.source : in.assembly).insert(static_cast<int>(p.line - 1));
      }
      in.operand = lines.operand(i);
      try {
        for (const ProvenanceLink& l : provenance.chain(in.node)) in.forms.push_back(l.node);
        for (const OriginInfo& o : provenance.origins(in.node)) {
          const std::string key = o.operation + "\n" + std::to_string(o.script.line);
          const auto [it, fresh] = tensorRow.emplace(key, static_cast<int>(out->tensors.size()));
          if (fresh)
            out->tensors.push_back({o.operation == trace.scope(scope).name
                                        ? tr("(asked for here)")
                                        : QString::fromStdString(o.operation),
                                    o.script.line,
                                    true,
                                    {}});
          in.tensors.insert(it->second);
          if (o.script.file == file && o.script.line > 0 &&
              o.script.line <= static_cast<int>(out->script.size())) {
            out->script[static_cast<size_t>(o.script.line - 1)].known = true;
            in.script.insert(o.script.line - 1);
          }
        }
      } catch (const Error&) { // of a node whose story was not recorded
      }
      out->instructions.push_back(std::move(in));
    }
    if (out->instructions.size() == out->uops.size()) colour(*out);
    int64_t runs = 0, ns = 0, flops = 0, bytes = 0;
    // Traces of other programs know the launched kernel by its name only.
    const std::vector<LaunchInfo> launches = trace.launches();
    const bool byName = std::ranges::none_of(launches, [](const LaunchInfo& l) { return l.compiled != 0; });
    for (const LaunchInfo& l : launches)
      if (byName ? l.kernel == trace.scope(scope).name : l.compiled == scope)
        ++runs, ns += l.ns, flops += l.flops, bytes += l.bytes;
    out->cost =
        runs == 0
            ? tr("not run in this trace")
            : counted(runs, tr("1 run"), tr("%1 runs")) +
                  tr(", %1 each, %2 FLOPs, %3%4")
                      .arg(duration(ns / runs), grouped(flops / runs), amount(bytes / runs),
                           ns > 0 ? tr(": %1 GFLOP/s, %2 GB/s")
                                        .arg(static_cast<double>(flops) / static_cast<double>(ns), 0, 'f', 2)
                                        .arg(static_cast<double>(bytes) / static_cast<double>(ns), 0, 'f', 2)
                                  : QString());
    return [this, out] {
      script_.setLines(std::move(out->script), Language::Python);
      tensors_.setLines(std::move(out->tensors), Language::Plain);
      rewrites_.setLines({}, Language::Plain);
      uops_.setLines(std::move(out->uops), Language::Uops);
      const bool isIr =
          !out->source.empty() && out->source.front().text.startsWith(QLatin1String("target triple"));
      source_.setLines(std::move(out->source), isIr ? Language::Llvm : Language::C);
      assembly_.setLines(std::move(out->assembly), Language::Assembly);
      instructions_ = std::move(out->instructions);
      cost_ = out->cost, missing_ = out->missing;
      byForm_.clear();
      for (size_t i = 0; i < instructions_.size(); ++i)
        for (const NodeId form : instructions_[i].forms) byForm_[form].insert(static_cast<int>(i));
      Q_EMIT changed();
      lightSelected();
    };
  });
}

void LinkedPanes::select(const QString& pane, int row) {
  QSet<int> found;
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& in = instructions_[i];
    const bool hit = pane == QLatin1String("uops")      ? static_cast<int>(i) == row
                     : pane == QLatin1String("script")  ? in.script.contains(row)
                     : pane == QLatin1String("tensors") ? in.tensors.contains(row)
                     : pane == QLatin1String("source")  ? in.source.contains(row)
                                                        : in.assembly.contains(row);
    if (hit) found.insert(static_cast<int>(i));
  }
  // Operands are dropped where a line has further instructions: many lines read the constant 0.0.
  QSet<int> about = found;
  about.removeIf([&](int i) { return instructions_[static_cast<size_t>(i)].operand; });
  if (!about.isEmpty()) found = std::move(about);
  if (found.isEmpty()) session_.showNotice(tr("Nothing in this kernel is known to belong to that line."));
  light(found);
}

void LinkedPanes::lightSelected() {
  if (loaded_ != session_.scope() || session_.node() < 0) return;
  const auto found = byForm_.find(static_cast<NodeId>(session_.node()));
  if (found != byForm_.end()) light(found->second);
}

void LinkedPanes::light(const QSet<int>& found) {
  QSet<int> script, tensors, source, assembly;
  for (const int i : found) {
    const Instruction& in = instructions_[static_cast<size_t>(i)];
    script |= in.script, tensors |= in.tensors, source |= in.source, assembly |= in.assembly;
  }
  uops_.setLit(found);
  script_.setLit(script);
  tensors_.setLit(tensors);
  source_.setLit(source);
  assembly_.setLit(assembly);
  if (found.isEmpty())
    rewrites_.setLines({}, Language::Plain);
  else
    askRewrites(instructions_[static_cast<size_t>(*std::max_element(found.begin(), found.end()))].node);
}

// How the last of the selected instructions came to be, oldest first.
void LinkedPanes::askRewrites(NodeId node) {
  session_.jobs().ask(Channel::Find, [this, node, scope = session_.scope()](Jobs::Job& job) -> Jobs::Answer {
    Provenance provenance(job.trace(), scope);
    std::vector<LinkedLines::Line> lines;
    for (const ProvenanceLink& l : provenance.chain(node)) {
      if (l.maker != Maker::Rule) continue;
      const PassInfo pass = job.trace().pass(l.pass);
      lines.push_back({QString::fromStdString(job.trace().rule(l.rule).name + "  in " + pass.name),
                       static_cast<int>(l.k), true, QStringLiteral("%1 %2").arg(l.pass).arg(l.k)});
    }
    std::reverse(lines.begin(), lines.end());
    return [this, lines] { rewrites_.setLines(lines, Language::Plain); };
  });
}

void LinkedPanes::follow(const QString& pane, int row) {
  const LinkedLines& from = pane == QLatin1String("rewrites") ? rewrites_ : uops_;
  if (row < 0 || row >= from.count()) return;
  const QString target = from.lines()[static_cast<size_t>(row)].target;
  session_.setTab(QStringLiteral("graph"));
  if (pane == QLatin1String("rewrites"))
    session_.goTo(target.section(QLatin1Char(' '), 0, 0).toLongLong(),
                  target.section(QLatin1Char(' '), 1, 1).toLongLong());
  else
    session_.follow(target);
}

} // namespace uopscope
