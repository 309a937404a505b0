// Uses the colours of Okabe and Ito, which people with any colour vision can tell apart: added nodes blue and
// bold, removed ones orange and dashed, changed ones green with a double line.
#include "app/cli/graph_text.h"

#include "app/cli/output.h"
#include "engine/base/clock.h"
#include "replay/read/print.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>

namespace uopscope::cli {

namespace {

std::string dotString(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string_view fillOf(Op op) {
  if (op == Op::LOAD || op == Op::STORE || op == Op::INDEX) return "#fde8c9";
  if (op == Op::RANGE || op == Op::END || op == Op::SPECIAL || op == Op::IF || op == Op::ENDIF)
    return "#d7ecf8";
  if (op == Op::REDUCE || op == Op::REDUCE_AXIS || op == Op::WMMA) return "#f3d6e4";
  if (group::kDefines.has(op) || op == Op::BUFFER || op == Op::DEFINE_VAR) return "#e3e3e3";
  if (group::kMovement.has(op)) return "#e9f5d8";
  if (group::kElementwise.has(op)) return "#fbf6c4";
  return "#ffffff";
}

bool isInlined(const NodeFields& n) {
  return n.op == Op::CONST && n.src.empty();
}

} // namespace

std::string dotText(Cursor& cursor, int64_t step, const GraphDiff* difference) {
  std::vector<NodeId> nodes = cursor.graphAt(step);
  std::map<NodeId, std::string> style;
  if (difference) {
    for (NodeId id : difference->added) style[id] = "color=\"#0072B2\" penwidth=3";
    for (const auto& c : difference->changed) style[c.after] = "color=\"#009E73\" peripheries=2";
    for (NodeId id : difference->removed) {
      style[id] = "color=\"#D55E00\" penwidth=2 style=\"filled,dashed\"";
      nodes.push_back(id);
    }
  }
  std::set<NodeId> shown(nodes.begin(), nodes.end());
  std::string out = fmt::format("digraph {} {{\n  rankdir=LR;\n  node [shape=box style=filled "
                                "fontname=\"DejaVu Sans Mono\" fontsize=10];\n"
                                "  edge [arrowsize=0.6 fontsize=8];\n",
                                dotString(fmt::format("{} step {}", cursor.info().name, step)));
  for (NodeId id : nodes) {
    NodeFields n = cursor.fields(id);
    if (isInlined(n) && !style.contains(id) && id != nodes.back()) continue;
    std::string label = fmt::format("{} {}", opName(n.op), nodeName(id));
    if (n.arg) {
      std::string arg = n.arg.repr();
      if (arg.size() > 60) arg.replace(57, std::string::npos, "...");
      label += '\n' + arg;
    }
    label += "\n" + n.dtype.name().substr(n.dtype.name().find('.') + 1);
    for (size_t k = 0; k < n.src.size(); ++k)
      if (NodeFields s = cursor.fields(n.src[k]); isInlined(s) && !style.contains(n.src[k]))
        label += fmt::format("\nsrc{} = {}", k, s.arg.repr());
    out += fmt::format("  n{} [label={} fillcolor=\"{}\" {}];\n", id, dotString(label), fillOf(n.op),
                       style.contains(id) ? style[id] : "");
  }
  for (NodeId id : nodes) {
    NodeFields n = cursor.fields(id);
    for (size_t k = 0; k < n.src.size(); ++k) {
      NodeId s = n.src[k];
      if (!shown.contains(s) || (isInlined(cursor.fields(s)) && !style.contains(s))) continue;
      out += fmt::format("  n{} -> n{}{};\n", s, id,
                         n.src.size() > 1 ? fmt::format(" [headlabel=\"{}\"]", k) : "");
    }
  }
  return out + "}\n";
}

std::string runDot(const std::string& dot, const std::string& format, int seconds) {
  int toChild[2], fromChild[2];
  if (pipe2(toChild, O_CLOEXEC) != 0 || pipe2(fromChild, O_CLOEXEC) != 0)
    throw Error(ErrorKind::Runtime, "no pipe for Graphviz");
  std::string option = "-T" + format;
  pid_t child = fork();
  if (child == 0) {
    dup2(toChild[0], STDIN_FILENO);
    dup2(fromChild[1], STDOUT_FILENO);
    execlp("dot", "dot", option.c_str(), nullptr);
    _exit(127);
  }
  close(toChild[0]);
  close(fromChild[1]);
  if (child < 0) {
    close(toChild[1]);
    close(fromChild[0]);
    throw Error(ErrorKind::Runtime, "no process for Graphviz");
  }
  struct IgnorePipe {
    IgnorePipe() : before(std::signal(SIGPIPE, SIG_IGN)) {}
    ~IgnorePipe() { std::signal(SIGPIPE, before); }
    void (*before)(int);
  } ignorePipe;
  fcntl(toChild[1], F_SETFL, O_NONBLOCK);
  std::string out;
  size_t written = 0;
  bool inOpen = true, tooLong = false;
  int64_t end = nowNs() + int64_t{seconds} * 1'000'000'000;
  for (;;) {
    int64_t left = (end - nowNs()) / 1'000'000;
    if (left <= 0) {
      tooLong = true;
      break;
    }
    pollfd files[2] = {{fromChild[0], POLLIN, 0}, {inOpen ? toChild[1] : -1, POLLOUT, 0}};
    if (poll(files, 2, static_cast<int>(std::min<int64_t>(left, 1000))) < 0 && errno != EINTR) break;
    if (files[1].revents) {
      ssize_t n = write(toChild[1], dot.data() + written, dot.size() - written);
      if (n > 0) written += static_cast<size_t>(n);
      if ((n < 0 && errno != EAGAIN) || written == dot.size()) {
        close(toChild[1]);
        inOpen = false;
      }
    }
    if (files[0].revents) {
      char buffer[65536];
      ssize_t n = read(fromChild[0], buffer, sizeof buffer);
      if (n <= 0) break;
      out.append(buffer, static_cast<size_t>(n));
    }
  }
  if (inOpen) close(toChild[1]);
  close(fromChild[0]);
  if (tooLong) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (tooLong)
    throw Error(ErrorKind::Runtime, fmt::format("Graphviz did not lay out the graph within {} s; export "
                                                ".dot, give --timeout, or look at it in the window",
                                                seconds));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw Error(ErrorKind::Runtime,
                "the program dot is not installed (package graphviz); export .dot instead");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || out.empty())
    throw Error(ErrorKind::Runtime, "Graphviz could not lay out the graph");
  return out;
}

} // namespace uopscope::cli
