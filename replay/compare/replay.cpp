// The parent hands out inputs one at a time, enforces time limits, and writes the result; workers compile. A
// message is a kind, a length and fields. A worker that dies closes its pipe, and its current input is the
// one that killed it.
#include "replay/compare/replay.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "replay/compare/recompile.h"
#include "replay/compare/worker_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

namespace uopscope {

namespace {

constexpr uint32_t kNoInput = 0xFFFFFFFF, kQuit = 0xFFFFFFFE;

// --- messages ---

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

bool send(int fd, char kind, const std::string& payload) {
  auto size = static_cast<uint32_t>(payload.size());
  std::string head(1, kind);
  head.append(reinterpret_cast<const char*>(&size), sizeof size);
  return writeAll(fd, head.data(), head.size()) && writeAll(fd, payload.data(), payload.size());
}

// --- the worker ---

/// Sanitizers reserve terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

[[noreturn]] void workerMain(const std::string& path, int in, int out, const ReplayOptions& o) {
  std::signal(SIGINT, SIG_IGN); // the parent decides
  if (o.memoryMb > 0 && !kSanitized) {
    rlimit limit{static_cast<rlim_t>(o.memoryMb) << 20, static_cast<rlim_t>(o.memoryMb) << 20};
    setrlimit(RLIMIT_AS, &limit);
  }
  becomeWorkerProcess();
  try {
    Corpus corpus = Corpus::open(path);
    std::vector<CorpusEntry> entries = corpus.entries();
    RuleTally counts;
    auto trial = counts.fork();
    WithoutRules without(o.without);
    Observer* gate = o.without.empty() ? nullptr : &without;
    for (uint32_t index, n = 0; read(in, &index, sizeof index) == sizeof index && index != kQuit;) {
      if (n++ % 64 == 63) {
        send(out, 'c', packCounts(counts.counts()));
        counts.clear();
      }
      // Only rules of scripts take their answers from the story, which takes a tenth of a compilation to unpack.
      Compilation input = corpus.load(entries.at(index), o.assembly, false);
      if (!input.applied || input.settings.find(kRulesOfScripts) != std::string::npos)
        input = corpus.load(entries.at(index), o.assembly);
      if (int64_t compileNs = 0; !gate && input.kind == ScopeKind::Kernel && input.status == "ok") {
        trial->clear();
        if (makesTheSame(input, {.assembly = o.assembly, .counts = o.codeOnly ? nullptr : trial.get()},
                         compileNs)) {
          counts.add(*trial);
          std::string answer;
          putVarint(answer, static_cast<uint64_t>(compileNs));
          if (!send(out, 's', answer)) _exit(1);
          continue;
        }
      }
      Compilation made =
          recompile(input, {.assembly = o.assembly, .gate = gate, .counts = o.codeOnly ? nullptr : &counts});
      if (!send(out, 'r', packResult(made))) _exit(1);
    }
    send(out, 'c', packCounts(counts.counts()));
    _exit(0);
  } catch (const std::exception& e) {
    send(out, 'e', e.what());
    _exit(1);
  }
}

// --- the parent ---

class Worker {
public:
  Worker(const std::string& path, const ReplayOptions& o,
         const std::vector<std::unique_ptr<Worker>>& others) {
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0)
      throw Error(ErrorKind::Runtime, fmt::format("no pipe: {}", strerror(errno)));
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ < 0) throw Error(ErrorKind::Runtime, fmt::format("no worker process: {}", strerror(errno)));
    if (pid_ == 0) {
      close(down[1]), close(up[0]);
      for (const auto& w : others)
        if (w) close(w->to_), close(w->from_);
      workerMain(path, down[0], up[1], o);
    }
    close(down[0]), close(up[1]);
    to_ = down[1], from_ = up[0];
  }
  ~Worker() { end(true); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void give(uint32_t index) {
    input = index;
    since = nowNs();
    if (!writeAll(to_, &index, sizeof index)) input = index; // the end of the pipe will report the failure
  }
  int from() const { return from_; }

  /// Reads the available bytes; false at the end of the pipe.
  bool receive() {
    char chunk[1 << 16];
    ssize_t n = read(from_, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    buffer_.append(chunk, static_cast<size_t>(n));
    return true;
  }
  /// Takes the next complete message.
  bool next(char& kind, std::string& payload) {
    if (buffer_.size() < 5) return false;
    uint32_t size;
    std::memcpy(&size, buffer_.data() + 1, sizeof size);
    if (buffer_.size() < 5 + size_t{size}) return false;
    kind = buffer_[0];
    payload = buffer_.substr(5, size);
    buffer_.erase(0, 5 + size_t{size});
    return true;
  }
  /// Describes how the process ended, in one sentence.
  std::string end(bool kill9) {
    if (pid_ <= 0) return {};
    if (kill9) kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    close(to_), close(from_);
    if (WIFSIGNALED(status))
      return fmt::format("the compiler was ended by signal {} ({})", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    return fmt::format("the compiler's process ended with exit code {}", WEXITSTATUS(status));
  }

  uint32_t input = kNoInput;
  int64_t since = 0;

private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string buffer_;
};

class Replay {
public:
  Replay(const std::string& corpus, const std::string& result, const ReplayOptions& o)
      : path_(corpus), o_(o), in_(Corpus::open(corpus)), entries_(in_.entries()),
        out_(Corpus::forReplayOf(corpus, result, o.assembly)) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      const CorpusEntry& e = entries_[i];
      if (o.kernelsOnly && !e.isKernel()) continue;
      if (o.wants && !o.wants(i)) continue;
      if (!o.only.empty() && std::find(o.only.begin(), o.only.end(), e.inputHash) == o.only.end()) continue;
      todo_.push_back(static_cast<uint32_t>(i));
    }
    progress_.total = todo_.size();
  }

  ReplaySummary run() {
    int64_t began = nowNs();
    std::signal(SIGPIPE, SIG_IGN);
    size_t jobs =
        o_.jobs > 0 ? static_cast<size_t>(o_.jobs) : std::max(1u, std::thread::hardware_concurrency());
    workers_.resize(std::clamp<size_t>(jobs, 1, std::max<size_t>(1, todo_.size())));
    for (auto& w : workers_) start(w);
    while (busy() && !stopped()) {
      step();
      if (o_.progress) o_.progress(progress_);
    }
    summary_.left = todo_.size() + (stopped() ? outstanding() : 0);
    finishWorkers();
    out_.addCounts(counts_);
    out_.finish(stopped() ? "stopped" : "complete");
    summary_.wallNs = nowNs() - began;
    return summary_;
  }

private:
  bool stopped() const { return o_.stop && o_.stop->load(); }
  size_t outstanding() const {
    size_t n = 0;
    for (const auto& w : workers_) n += w && w->input != kNoInput;
    return n;
  }
  bool busy() const { return !todo_.empty() || outstanding() > 0; }

  void start(std::unique_ptr<Worker>& slot) {
    slot.reset();
    if (todo_.empty()) return;
    slot = std::make_unique<Worker>(path_, o_, workers_);
    giveNext(*slot);
  }
  void giveNext(Worker& w) {
    w.input = kNoInput;
    if (todo_.empty()) return;
    uint32_t index = todo_.front();
    todo_.pop_front();
    w.give(index);
  }

  void step() {
    std::vector<pollfd> fds;
    for (const auto& w : workers_) fds.push_back({w && w->input != kNoInput ? w->from() : -1, POLLIN, 0});
    poll(fds.data(), fds.size(), 100);
    for (size_t i = 0; i < workers_.size(); ++i) {
      auto& w = workers_[i];
      if (!w || w->input == kNoInput) continue;
      if (fds[i].revents && !w->receive()) {
        uint32_t input = w->input;
        lost(input, "crashed", w->end(false));
        start(w);
        continue;
      }
      char kind;
      std::string payload;
      while (w && w->next(kind, payload)) message(*w, kind, payload);
      if (w->input != kNoInput && nowNs() - w->since > int64_t{o_.timeoutSeconds} * 1'000'000'000) {
        uint32_t input = w->input;
        w->end(true);
        lost(input, "timeout", fmt::format("no result after {} s", o_.timeoutSeconds));
        start(w);
      }
    }
  }

  void message(Worker& w, char kind, const std::string& payload) {
    if (kind == 'c') {
      unpackCounts(payload, counts_);
    } else if (kind == 'e') {
      throw Error(ErrorKind::Runtime, payload);
    } else if (kind == 's') {
      size_t at = 0;
      auto compileNs = static_cast<int64_t>(getVarint(payload, at));
      count("ok", compileNs);
      ++summary_.same;
      out_.confirm(entries_[w.input], compileNs);
      giveNext(w);
    } else {
      Compilation c = in_.load(entries_[w.input], false, false);
      unpackResult(payload, c);
      keep(w.input, c);
      giveNext(w);
    }
  }
  void lost(uint32_t input, const char* status, const std::string& message) {
    Compilation c = in_.load(entries_[input], false, false);
    c.source.clear(), c.ir.clear(), c.launch.clear(), c.opts.clear();
    c.story = {};
    c.status = status, c.message = message;
    keep(input, c);
  }
  void keep(uint32_t input, const Compilation& c) {
    count(c.status, c.compileNs);
    out_.replace(entries_[input], c);
  }
  void count(std::string_view status, int64_t compileNs) {
    ++(status == "ok"        ? summary_.ok
       : status == "failed"  ? summary_.failed
       : status == "timeout" ? summary_.timedOut
                             : summary_.crashed);
    summary_.compileNs += compileNs;
    ++progress_.done;
    progress_.failed += status != "ok";
  }

  void finishWorkers() {
    for (auto& w : workers_) {
      if (!w) continue;
      if (!stopped()) {
        w->give(kQuit);
        while (w->receive()) {
        }
        char kind;
        std::string payload;
        while (w->next(kind, payload))
          if (kind == 'c') unpackCounts(payload, counts_);
      }
      w.reset();
    }
  }

  std::string path_;
  const ReplayOptions& o_;
  Corpus in_;
  std::vector<CorpusEntry> entries_;
  Corpus out_;
  std::deque<uint32_t> todo_;
  std::vector<std::unique_ptr<Worker>> workers_;
  RuleCounts counts_;
  ReplayProgress progress_;
  ReplaySummary summary_;
};

} // namespace

ReplaySummary replayCorpus(const std::string& corpus, const std::string& result,
                           const ReplayOptions& options) {
  return Replay(corpus, result, options).run();
}

} // namespace uopscope
