// A text is its length and its bytes, a number is LEB128.
#include "replay/compare/replay_messages.h"

#include "engine/base/error.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace uopscope {

namespace {
void put(std::string& out, std::string_view text) {
  putVarint(out, text.size());
  out += text;
}
std::string get(std::string_view bytes, size_t& at) {
  uint64_t size = getVarint(bytes, at);
  if (size > bytes.size() - at) throw Error(ErrorKind::Runtime, "a worker sent half a message");
  at += size;
  return std::string(bytes.substr(at - size, size));
}
} // namespace

std::string packResult(const Compilation& c) {
  std::string out;
  for (std::string_view f :
       {std::string_view(c.name), std::string_view(c.status), std::string_view(c.message),
        std::string_view(c.source), std::string_view(c.ir), std::string_view(c.assembly),
        std::string_view(c.launch), std::string_view(c.opts), std::string_view(c.story.nodes),
        std::string_view(c.story.events)})
    put(out, f);
  for (int64_t n : {c.compileNs, c.flops + 1, c.bytes + 1}) putVarint(out, static_cast<uint64_t>(n));
  putVarint(out, c.story.root);
  putVarint(out, c.story.words.size());
  for (const std::string& w : c.story.words) put(out, w);
  return out;
}

void unpackResult(std::string_view in, Compilation& c) {
  size_t at = 0;
  for (std::string* f : {&c.name, &c.status, &c.message, &c.source, &c.ir, &c.assembly, &c.launch, &c.opts,
                         &c.story.nodes, &c.story.events})
    *f = get(in, at);
  c.compileNs = static_cast<int64_t>(getVarint(in, at));
  c.flops = static_cast<int64_t>(getVarint(in, at)) - 1;
  c.bytes = static_cast<int64_t>(getVarint(in, at)) - 1;
  c.story.root = static_cast<uint32_t>(getVarint(in, at));
  c.story.words.resize(std::min<uint64_t>(getVarint(in, at), in.size()));
  for (std::string& w : c.story.words) w = get(in, at);
}

std::string packCounts(const RuleCounts& counts) {
  std::string out;
  putVarint(out, counts.size());
  for (const auto& [place, n] : counts) {
    put(out, place.pass), put(out, place.rule), put(out, place.file);
    putVarint(out, static_cast<uint64_t>(place.line));
    for (uint64_t v : n.count) putVarint(out, v);
    putVarint(out, static_cast<uint64_t>(n.ns));
  }
  return out;
}

void unpackCounts(std::string_view in, RuleCounts& counts) {
  size_t at = 0;
  for (uint64_t left = getVarint(in, at); left > 0; --left) {
    RulePlace place{get(in, at), get(in, at), get(in, at), static_cast<int>(getVarint(in, at))};
    RuleCount& n = counts[place];
    for (uint64_t& v : n.count) v += getVarint(in, at);
    n.ns += static_cast<int64_t>(getVarint(in, at));
  }
}

bool writeAll(int fd, const void* data, size_t size) {
  for (auto* at = static_cast<const char*>(data); size > 0;) {
    ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool sendMessage(int fd, char kind, const std::string& payload) {
  auto size = static_cast<uint32_t>(payload.size());
  std::string head(1, kind);
  head.append(reinterpret_cast<const char*>(&size), sizeof size);
  return writeAll(fd, head.data(), head.size()) && writeAll(fd, payload.data(), payload.size());
}

bool readAll(int fd, void* data, size_t size) {
  for (auto* at = static_cast<char*>(data); size > 0;) {
    ssize_t n = read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

} // namespace uopscope
