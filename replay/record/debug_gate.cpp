// The gate reads the socket without blocking while the program runs, and blocks while a breakpoint holds.
#include "replay/record/debug_gate.h"

#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "engine/uop/print.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace uopscope {
namespace {

// A running gate looks for orders once in this many rewrites, so it notices a pause within a millisecond.
constexpr uint32_t kEvery = 64;
constexpr size_t kMostText = 400;

std::string shortened(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  if (text.size() > kMostText) text.replace(kMostText, std::string::npos, "...");
  return text;
}

} // namespace

Breakpoint Breakpoint::parse(std::string_view text) {
  Breakpoint out;
  while (!text.empty()) {
    const size_t end = std::min(text.size(), text.find(' '));
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (word.empty()) continue;
    const size_t sign = word.find('=');
    const std::string field(word.substr(0, sign));
    if (sign == std::string_view::npos ||
        (field != "rule" && field != "op" && field != "into" && field != "pass" && field != "kernel"))
      throw Error(
          ErrorKind::Value,
          fmt::format("breakpoint: \"{}\" is not understood; use rule=, op=, into=, pass=, kernel=", word));
    out.wanted_[field] = word.substr(sign + 1);
  }
  return out;
}

bool Breakpoint::holds(const GatePlace& p) const {
  return std::all_of(wanted_.begin(), wanted_.end(), [&](const auto& want) {
    const std::string_view is = want.first == "rule"   ? p.rule
                                : want.first == "op"   ? p.op
                                : want.first == "into" ? p.into
                                : want.first == "pass" ? p.pass
                                                       : p.kernel;
    return fnmatch(want.second.c_str(), std::string(is).c_str(), 0) == 0;
  });
}

DebugGate::DebugGate(Observer& inner, const std::string& path, std::function<void()> settle)
    : ForwardingObserver(inner), settle_(std::move(settle)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw Error(ErrorKind::Value, path + ": the name of the socket is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0 || connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const std::string why = strerror(errno);
    if (socket_ >= 0) close(socket_);
    throw Error(
        ErrorKind::Runtime,
        fmt::format("{}: nobody gives orders there ({}); start the recording from the window", path, why));
  }
  answer("hello");
  // Breakpoints must arrive before anything runs.
  takeOrders(/*block=*/true);
}

DebugGate::~DebugGate() {
  if (socket_ >= 0) close(socket_);
}

void DebugGate::answer(const std::string& line) {
  const std::string bytes = line + "\n";
  if (socket_ >= 0 && send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) {
    close(socket_);
    socket_ = -1;
  }
}

void DebugGate::takeOrders(bool block) {
  char buffer[4096];
  while (socket_ >= 0) {
    if (const size_t end = pending_.find('\n'); end != std::string::npos) {
      const std::string order = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      obey(order);
      if (block && !paused_ && order.rfind("break", 0) != 0 && order != "clear") return;
      continue;
    }
    const ssize_t got = recv(socket_, buffer, sizeof buffer, block ? 0 : MSG_DONTWAIT);
    if (got > 0) {
      pending_.append(buffer, static_cast<size_t>(got));
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    } else if (got == 0 || errno != EINTR) { // the listener has gone
      close(socket_);
      socket_ = -1;
      breakpoints_.clear();
      run_ = Run::Free;
      paused_ = false;
    }
  }
}

void DebugGate::obey(const std::string& order) {
  if (order.rfind("break ", 0) == 0) {
    try {
      breakpoints_.push_back(Breakpoint::parse(std::string_view(order).substr(6)));
    } catch (const Error& e) {
      answer(std::string("problem\t") + e.what());
    }
    return;
  }
  if (order == "clear") return breakpoints_.clear();
  skip_ = order == "skip";
  depth_ = passes_.size();
  passEnded_ = false;
  run_ = order == "pause" || order == "step" || order == "skip" ? Run::Step
         : order == "next"                                      ? Run::Next
         : order == "finish"                                    ? Run::Finish
                                                                : Run::Free;
  paused_ = false;
}

void DebugGate::onScopeBegin(const ScopeBegin& begin) {
  scopes_.emplace_back(begin.name);
  inner().onScopeBegin(begin);
}
void DebugGate::onScopeEnd() {
  if (!scopes_.empty()) scopes_.pop_back();
  inner().onScopeEnd();
}
void DebugGate::onPassBegin(const PassBegin& begin) {
  passes_.push_back({std::string(begin.name), 0});
  inner().onPassBegin(begin);
}
void DebugGate::onPassEnd(const PassEnd& end) {
  if (passes_.size() == depth_) passEnded_ = true;
  if (!passes_.empty()) passes_.pop_back();
  inner().onPassEnd(end);
}

bool DebugGate::stopsAt(const RewriteEvent& event) {
  switch (run_) {
  case Run::Step: return true;
  case Run::Next:
    if (passes_.size() <= depth_) return true;
    break;
  case Run::Finish:
    if (passEnded_) return true;
    break;
  case Run::Free: break;
  }
  if (breakpoints_.empty()) return false;
  GatePlace place{event.rule->name(), opName(event.before.op()),
                  event.after ? opName(event.after.op()) : std::string_view(),
                  passes_.empty() ? std::string_view() : passes_.back().name,
                  scopes_.empty() ? std::string_view() : scopes_.back()};
  return std::any_of(breakpoints_.begin(), breakpoints_.end(),
                     [&](const Breakpoint& b) { return b.holds(place); });
}

Control DebugGate::wait(const RewriteEvent& event) {
  settle_();
  answer(fmt::format("paused\t{}\t{}\t{}\t{}\t{}\t{}\t{}", scopes_.empty() ? "" : scopes_.back(),
                     passes_.empty() ? "" : passes_.back().name, passes_.empty() ? 0 : passes_.back().steps,
                     passes_.size(), event.rule->name(), shortened(event.before.render()),
                     event.after ? shortened(event.after.render()) : ""));
  paused_ = true;
  skip_ = false;
  while (paused_ && socket_ >= 0) takeOrders(/*block=*/true);
  answer("running");
  return skip_ ? Control::Skip : Control::Apply;
}

Control DebugGate::onRewrite(const RewriteEvent& event) {
  if (socket_ >= 0) {
    if (++since_ >= kEvery) since_ = 0, takeOrders(/*block=*/false);
    if (stopsAt(event) && wait(event) == Control::Skip) return Control::Skip;
  }
  if (!passes_.empty()) ++passes_.back().steps;
  return inner().onRewrite(event);
}

} // namespace uopscope
