// Writes the rows of kernels: launches and buffers, texts with their lines, linear programs, and the origins
// of nodes.
#include "replay/record/trace_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace uopscope {

void TraceWriter::launch(const Event& e) {
  const Payload& p = *e.payload;
  std::string buffers;
  for (uint64_t id : p.buffers)
    buffers += fmt::format("{}{}", buffers.empty() ? "" : ",", bufferOf(id, e.ns));
  auto compiled = programs_.find(p.program);
  insertLaunch_.bindId(1, currentScope())
      .bind(2, string(p.name))
      .bind(3, string(p.text))
      .bind(4, p.flops)
      .bind(5, p.bytes)
      .bind(6, e.ns - startNs_)
      .bind(7, std::max<int64_t>(p.took, 0))
      .bindId(8, compiled == programs_.end() ? 0 : compiled->second)
      .bind(9, p.accessed)
      .bind(10, fmt::format("[{}]", buffers))
      .run();
}

/// A buffer that was there before the recording began, or whose views come before its memory, gets its row,
/// without the facts that are not known yet, when it is first used.
int64_t TraceWriter::bufferOf(uint64_t id, int64_t ns) {
  auto [it, fresh] = buffers_.try_emplace(id, nextBuffer_);
  if (fresh) {
    ++nextBuffer_;
    insertBuffer_.bind(1, it->second)
        .bind(2, string(""))
        .bind(3, string(""))
        .bind(4, int64_t{0})
        .bindNull(5)
        .bind(6, int64_t{0})
        .bind(7, ns - startNs_)
        .run();
  }
  return it->second;
}

void TraceWriter::buffer(const Event& e) {
  const Payload& p = *e.payload;
  if (e.flag) {
    const auto it = buffers_.find(p.id);
    if (it == buffers_.end()) return;
    freeBuffer_.bind(1, e.ns - startNs_).bind(2, it->second).run();
    buffers_.erase(it);
    return;
  }
  const int64_t base = p.base ? bufferOf(p.base, e.ns) : 0;
  const int64_t id = buffers_.try_emplace(p.id, nextBuffer_).first->second;
  if (id == nextBuffer_) ++nextBuffer_;
  insertBuffer_.bind(1, id)
      .bind(2, string(p.text))
      .bind(3, string(p.name))
      .bind(4, p.bytes)
      .bindId(5, base)
      .bind(6, p.offset)
      .bind(7, e.ns - startNs_)
      .run();
}

/// Stores the text "launch" as a row as well; the optimisations arrived before it.
void TraceWriter::kernel(const std::string& launch) {
  if (scopes_.empty()) return;
  auto j = nlohmann::json::parse(launch, nullptr, false);
  if (!j.is_object()) return;
  auto opts = scopes_.back().texts.find("opts");
  insertKernel_.bind(1, scopes_.back().id)
      .bind(2, j.value("device", ""))
      .bind(3, opts == scopes_.back().texts.end() ? "[]" : opts->second)
      .bind(4, j.value("global", nlohmann::json::array()).dump())
      .bind(5, j.value("local", nlohmann::json::array()).dump());
  nlohmann::json estimates = j.value("estimates", nlohmann::json::object());
  int at = 6;
  for (const char* key : {"ops", "mem", "lds"}) {
    const nlohmann::json value = estimates.value(key, nlohmann::json());
    if (value.is_number_integer())
      insertKernel_.bind(at, value.get<int64_t>());
    else if (value.is_string())
      insertKernel_.bind(at, std::string_view(value.get_ref<const std::string&>()));
    else
      insertKernel_.bindNull(at);
    ++at;
  }
  insertKernel_.run();
}

/// The number of registers is a column too; the text has the rest.
void TraceWriter::registers(const std::string& text) {
  if (scopes_.empty()) return;
  const auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("used") || !j["used"].is_object()) return;
  setRegisters_.bind(1, j["used"].value("registers", int64_t{0})).bind(2, scopes_.back().id).run();
}

void TraceWriter::program(const Payload& p) {
  if (scopes_.empty() || p.nodes.empty()) return;
  int64_t scope = scopes_.back().id;
  scopes_.back().hasProgram = true;
  programs_[p.nodes[0]->pool->serial()] = scope;
  std::vector<int64_t> nodes;
  for (const Node* node : p.nodes) nodes.push_back(nodes_->intern(node));
  texts_->addProgram(scope, nodes);
  rows_ += p.nodes.size();
}

/// A loop makes its tensors again and again while schedules come from the cache, so an origin is stored only
/// when its node is part of a recorded graph.
void TraceWriter::origin(Event& e) {
  if (uint32_t id = nodes_->idOf(e.before)) {
    writeOrigin(id, *e.payload);
  } else {
    nodes_->watch(e.before);
    origins_.emplace(e.before, std::move(e.payload));
  }
}

void TraceWriter::writeOrigin(uint32_t node, const Payload& p) {
  int64_t operation = string(p.name), place = file(p.file);
  if (!originsWritten_.emplace(node, operation, place, p.line).second) return;
  insertOrigin_.bind(1, nextOrigin_++).bind(2, int64_t{node}).bind(3, operation).bindId(4, place);
  insertOrigin_.bind(5, int64_t{p.line}).run();
  if (p.text.empty() || !callsWritten_.insert(node).second) return;
  insertCalls_.bind(1, int64_t{node}).bind(2, string(p.text)).run();
}

void TraceWriter::artifact(const Payload& p) {
  if (p.name == "name" && !scopes_.empty()) { // a kernel gets its name once it has been lowered
    nameScope_.bind(1, string(p.text)).bind(2, scopes_.back().id).run();
    return;
  }
  if (p.name == "uops" && !scopes_.empty() && scopes_.back().hasProgram) return; // the program prints it too
  if (!scopes_.empty()) {                                                        // repeats are stored once
    auto [it, fresh] = scopes_.back().texts.try_emplace(p.name, p.text);
    if (!fresh && it->second == p.text) return;
    it->second = p.text;
  }
  if (p.name == "launch") kernel(p.text);
  if (p.name == "registers") registers(p.text);
  texts_->add(nextArtifact_++, currentScope(), string(p.name), p.text,
              tier_ == Tier::Full ? p.lines : std::vector<TextLine>());
  rows_ += p.lines.size();
}

} // namespace uopscope
