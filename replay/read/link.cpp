// Percent-encodes, as URLs do, the few characters that would end a part of a link.
#include "replay/read/link.h"

#include "replay/read/names.h"

#include <fmt/format.h>

#include <charconv>

namespace uopscope {

namespace {
std::string decode(std::string_view text) {
  std::string out;
  for (size_t k = 0; k < text.size(); ++k) {
    unsigned value = 0;
    if (text[k] == '%' && k + 2 < text.size() &&
        std::from_chars(&text[k + 1], &text[k + 3], value, 16).ptr == &text[k + 3]) {
      out += static_cast<char>(value);
      k += 2;
    } else {
      out += text[k] == '+' ? ' ' : text[k];
    }
  }
  return out;
}
std::string encode(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == ' ')
      out += '+';
    else if (c == '&' || c == '%' || c == '+' || c == '=' || static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}
int64_t number(std::string_view key, const std::string& text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw Error(ErrorKind::Value, fmt::format("link: {} is \"{}\", which is no number", key, text));
  return value;
}
NodeId nodeOf(int64_t id) {
  if (id > UINT32_MAX) throw Error(ErrorKind::Value, fmt::format("link: there is no node {}", id));
  return static_cast<NodeId>(id);
}
} // namespace

Link Link::parse(std::string_view text) {
  Link link;
  if (size_t colon = text.find("://"); colon != std::string_view::npos) text = text.substr(colon + 3);
  while (!text.empty()) {
    size_t end = std::min(text.find('&'), text.size());
    std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      throw Error(
          ErrorKind::Value,
          fmt::format("link: \"{}\" has no value; a link looks like kernel=3&pass=devectorize&step=12",
                      part));
    std::string_view key = part.substr(0, equals);
    std::string value = decode(part.substr(equals + 1));
    if (key == "kernel")
      link.kernel = value;
    else if (key == "pass")
      link.pass = value;
    else if (key == "tab")
      link.tab = value;
    else if (key == "variant")
      link.variant = value;
    else if (key == "step")
      link.step = number(key, value);
    else if (key == "node")
      link.node = nodeOf(number(key, value));
    else
      throw Error(
          ErrorKind::Value,
          fmt::format("link: there is no part \"{}\"; there are kernel, pass, step, node, tab and variant",
                      key));
  }
  return link;
}

std::string Link::str() const {
  std::string out;
  auto add = [&](std::string_view key, const std::string& value) {
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", key, encode(value));
  };
  if (!kernel.empty()) add("kernel", kernel);
  if (!pass.empty()) add("pass", pass);
  if (step) add("step", fmt::format("{}", *step));
  if (node) add("node", fmt::format("{}", *node));
  if (!tab.empty()) add("tab", tab);
  if (!variant.empty()) add("variant", variant);
  return out;
}

ResolvedLink resolve(Trace& trace, const Link& link) {
  ResolvedLink at;
  at.tab = link.tab;
  if (!link.kernel.empty()) at.scope = trace.findScope(link.kernel);
  if (!link.pass.empty()) {
    if (!at.scope) throw Error(ErrorKind::Value, "link: a pass needs a kernel");
    at.pass = trace.findPass(at.scope, link.pass);
    int64_t steps = trace.pass(at.pass).steps;
    at.step = link.step.value_or(0);
    if (at.step > steps)
      throw Error(ErrorKind::Key,
                  fmt::format("link: the pass has {} steps, there is no step {}", steps, at.step));
  }
  at.node = link.node.value_or(kNoNode);
  if (at.node && at.node < kFirstViewNode) trace.nodes().raw(at.node);
  return at;
}

Link makeLink(Trace& trace, const ResolvedLink& at) {
  static const std::vector<PassInfo> none;
  return makeLink(at.scope && at.pass ? trace.passes(at.scope) : none, at);
}

Link makeLink(const std::vector<PassInfo>& all, const ResolvedLink& at) {
  Link link;
  link.tab = at.tab;
  if (at.node) link.node = at.node;
  if (!at.scope) return link;
  link.kernel = fmt::format("{}", at.scope);
  if (!at.pass) return link;
  int64_t sameName = 0;
  for (const PassInfo& p : all) {
    if (p.id != at.pass) continue;
    for (const PassInfo& q : all) sameName += q.name == p.name && q.id <= p.id;
    link.pass = sameName == 1 ? p.name : fmt::format("{}#{}", p.name, sameName);
  }
  link.step = at.step;
  return link;
}

} // namespace uopscope
