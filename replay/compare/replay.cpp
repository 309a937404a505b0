// The parent hands out batches of inputs, enforces time limits, and writes the result; workers compile. A message is a
// kind, a length and fields. To hand out single inputs would cost a tenth of a compilation: two processes wake each
// other up. A worker says in shared memory which input of its batch it compiles, so a worker that dies costs that input
// alone; what it had not reported goes to the next one.
#include "replay/compare/replay.h"

#include "engine/base/child_process.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "replay/compare/recompile.h"
#include "replay/compare/replay_messages.h"
#include "replay/compare/worker_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <span>
#include <thread>
#include <utility>

namespace uopscope {

namespace {

constexpr size_t kMostOfBatch = 64;
constexpr int64_t kReportEveryNs = 50'000'000; ///< results of a batch wait so long at most

/// A page that a worker and its parent share: the place in the batch of the input that is being compiled.
struct Place {
  std::atomic<uint32_t> at{0};
  std::atomic<int64_t> since{0};
};
static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

// --- the worker ---

/// What is to be compiled. Workers take over what the parent has read of it.
struct Inputs {
  explicit Inputs(const std::string& path) : corpus(Corpus::open(path)), entries(corpus.entries()) {}
  Corpus corpus;
  std::vector<CorpusEntry> entries;
};

/// Compiles inputs and reports them in their order: times of those that came out as stored, or a whole result.
class Work {
public:
  Work(const Inputs& inputs, int out, Place& place, const ReplayOptions& o)
      : corpus_(inputs.corpus.reopened()), entries_(inputs.entries), out_(out), place_(place), o_(o),
        without_(o.without), gate_(o.without.empty() ? nullptr : &without_) {}

  void batch(std::span<const uint32_t> inputs) {
    lastReportNs_ = nowNs();
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int64_t now = nowNs();
      place_.since = now;
      place_.at = static_cast<uint32_t>(k);
      if (now - lastReportNs_ > kReportEveryNs) report();
      compile(entries_.at(inputs[k]));
    }
    if (!o_.codeOnly) tell('c', packCounts(counts_.counts()));
    counts_.clear();
    report();
  }

private:
  void compile(const CorpusEntry& entry) {
    // Only rules of scripts take their answers from the story, which takes a tenth of a compilation to unpack.
    Compilation input = corpus_.load(entry, o_.assembly, false);
    if (!input.applied || input.settings.find(kRulesOfScripts) != std::string::npos)
      input = corpus_.load(entry, o_.assembly);
    if (input.settings != settingsText_) { // most inputs have those of the one before
      settings_ = settingsOf(input);
      settingsText_ = input.settings;
    }
    if (int64_t compileNs = 0; !gate_ && input.kind == ScopeKind::Kernel && input.status == "ok") {
      trial_->clear();
      if (makesTheSame(input,
                       {.assembly = o_.assembly,
                        .counts = o_.codeOnly ? nullptr : trial_.get(),
                        .settings = &settings_},
                       compileNs)) {
        counts_.add(*trial_);
        putVarint(same_, static_cast<uint64_t>(compileNs));
        return;
      }
    }
    Compilation made = recompile(input, {.assembly = o_.assembly,
                                         .gate = gate_,
                                         .counts = o_.codeOnly ? nullptr : &counts_,
                                         .settings = &settings_});
    report();
    tell('r', packResult(made));
  }
  void report() {
    lastReportNs_ = nowNs();
    if (!same_.empty()) tell('s', same_);
    same_.clear();
  }
  void tell(char kind, const std::string& payload) const {
    if (!sendMessage(out_, kind, payload)) _exit(1);
  }

  Corpus corpus_;
  const std::vector<CorpusEntry>& entries_;
  int out_;
  Place& place_;
  const ReplayOptions& o_;
  WithoutRules without_;
  Observer* gate_;
  RuleTally counts_;
  std::shared_ptr<RuleTally> trial_ = counts_.fork();
  std::string settingsText_;
  StoredSettings settings_; ///< that text says
  std::string same_;        ///< times of inputs that were not reported yet
  int64_t lastReportNs_ = 0;
};

[[noreturn]] void workerMain(const Inputs& inputs, int in, int out, Place& place, const ReplayOptions& o) {
  std::signal(SIGINT, SIG_IGN); // the parent decides
  if (o.memoryMb > 0) limitMemory(static_cast<uint64_t>(o.memoryMb) << 20);
  becomeWorkerProcess();
  try {
    Work work(inputs, out, place, o);
    std::vector<uint32_t> batch;
    for (uint32_t count; readAll(in, &count, sizeof count) && count > 0;) {
      batch.resize(count);
      if (!readAll(in, batch.data(), count * sizeof(uint32_t))) break;
      work.batch(batch);
    }
    _exit(0);
  } catch (const std::exception& e) {
    sendMessage(out, 'e', e.what());
    _exit(1);
  }
}

// --- the parent ---

class Worker {
public:
  Worker(const Inputs& inputs, const ReplayOptions& o, const std::vector<std::unique_ptr<Worker>>& others) {
    void* page = mmap(nullptr, sizeof(Place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
      throw Error(ErrorKind::Runtime, fmt::format("no memory to share with a worker: {}", strerror(errno)));
    place_.reset(new (page) Place);
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
      workerMain(inputs, down[0], up[1], *place_, o);
    }
    close(down[0]), close(up[1]);
    to_ = down[1], from_ = up[0];
  }
  ~Worker() { end(true); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// None: the worker ends. A worker that is gone already shows it by the end of its pipe.
  void give(std::span<const uint32_t> inputs) {
    waiting.assign(inputs.begin(), inputs.end());
    answered_ = 0;
    place_->at = 0;
    place_->since = nowNs();
    const auto count = static_cast<uint32_t>(inputs.size());
    if (writeAll(to_, &count, sizeof count)) writeAll(to_, inputs.data(), inputs.size_bytes());
  }
  /// Takes the next input that has a result off the batch.
  uint32_t answered() {
    if (waiting.empty()) throw Error(ErrorKind::Runtime, "a worker sent a result that nobody asked for");
    const uint32_t input = waiting.front();
    waiting.pop_front();
    ++answered_;
    return input;
  }
  /// The place among those waiting of the input that is being compiled; those before it are done, and not reported.
  size_t compiling() const {
    const uint32_t at = place_->at;
    return std::min<size_t>(at > answered_ ? at - answered_ : 0, waiting.size() - 1);
  }
  int64_t since() const { return place_->since; } ///< when that input began
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

  std::deque<uint32_t> waiting; ///< the inputs of the batch that have no result yet
  bool takesFromEnd = false;

private:
  struct Unmap {
    void operator()(Place* place) const { munmap(place, sizeof(Place)); }
  };
  std::unique_ptr<Place, Unmap> place_;
  uint32_t answered_ = 0; ///< inputs of the batch that have one
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
  std::string buffer_;
};

class Replay {
public:
  Replay(const std::string& corpus, const std::string& result, const ReplayOptions& o)
      : o_(o), in_(corpus), out_(Corpus::forReplayOf(corpus, result, o.assembly)) {
    for (size_t i = 0; i < in_.entries.size(); ++i) {
      const CorpusEntry& e = in_.entries[i];
      if (o.kernelsOnly && !e.isKernel()) continue;
      if (o.wants && !o.wants(i)) continue;
      if (!o.only.empty() && std::find(o.only.begin(), o.only.end(), e.inputHash) == o.only.end()) continue;
      todo_.push_back(static_cast<uint32_t>(i));
    }
    progress_.total = todo_.size();
    // Unpacked once for all workers; a corpus of several blocks has the others unpacked where they are needed.
    if (!todo_.empty()) in_.corpus.load(in_.entries[todo_.front()], false, false);
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
    for (const auto& w : workers_) n += w ? w->waiting.size() : 0;
    return n;
  }
  bool busy() const { return !todo_.empty() || outstanding() > 0; }

  void start(std::unique_ptr<Worker>& slot) {
    slot.reset();
    if (todo_.empty()) return;
    slot = std::make_unique<Worker>(in_, o_, workers_);
    slot->takesFromEnd = (&slot - workers_.data()) % 2 == 1;
    giveNext(*slot);
  }
  /// Batches become smaller towards the end, so that the workers end together. Every other worker takes from the end: two
  /// workers then unpack different blocks of the corpus.
  void giveNext(Worker& w) {
    if (todo_.empty()) return;
    constexpr size_t kRounds = 4;
    const size_t count = std::clamp<size_t>(todo_.size() / (kRounds * workers_.size()), 1, kMostOfBatch);
    const auto first = w.takesFromEnd ? todo_.end() - static_cast<std::ptrdiff_t>(count) : todo_.begin();
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    const std::vector<uint32_t> batch(first, last);
    todo_.erase(first, last);
    w.give(batch);
  }

  void step() {
    std::vector<pollfd> fds;
    for (const auto& w : workers_) fds.push_back({w && !w->waiting.empty() ? w->from() : -1, POLLIN, 0});
    poll(fds.data(), fds.size(), 100);
    for (size_t i = 0; i < workers_.size(); ++i) {
      auto& w = workers_[i];
      if (!w || w->waiting.empty()) continue;
      if (fds[i].revents && !w->receive()) {
        replaceWorker(w, "crashed", w->end(false));
        continue;
      }
      char kind;
      std::string payload;
      while (w->next(kind, payload)) message(*w, kind, payload);
      if (!w->waiting.empty() && nowNs() - w->since() > int64_t{o_.timeoutSeconds} * 1'000'000'000) {
        w->end(true);
        replaceWorker(w, "timeout", fmt::format("no result after {} s", o_.timeoutSeconds));
      }
    }
  }
  /// The input that the worker was compiling has this result; the other ones of its batch are given out again.
  void replaceWorker(std::unique_ptr<Worker>& w, const char* status, const std::string& message) {
    const auto at = static_cast<std::ptrdiff_t>(w->compiling());
    const uint32_t input = w->waiting[static_cast<size_t>(at)];
    w->waiting.erase(w->waiting.begin() + at);
    todo_.insert(todo_.begin(), w->waiting.begin(), w->waiting.end());
    lost(input, status, message);
    start(w);
  }

  void message(Worker& w, char kind, const std::string& payload) {
    if (kind == 'c') {
      unpackCounts(payload, counts_);
    } else if (kind == 'e') {
      throw Error(ErrorKind::Runtime, payload);
    } else if (kind == 's') {
      for (size_t at = 0; at < payload.size();) {
        const auto compileNs = static_cast<int64_t>(getVarint(payload, at));
        const uint32_t input = w.answered();
        count("ok", compileNs);
        ++summary_.same;
        out_.confirm(in_.entries[input], compileNs);
      }
    } else {
      const uint32_t input = w.answered();
      Compilation c = in_.corpus.load(in_.entries[input], false, false);
      unpackResult(payload, c);
      keep(input, c);
    }
    if (w.waiting.empty()) giveNext(w);
  }
  void lost(uint32_t input, const char* status, const std::string& message) {
    Compilation c = in_.corpus.load(in_.entries[input], false, false);
    c.source.clear(), c.ir.clear(), c.launch.clear(), c.opts.clear();
    c.story = {};
    c.status = status, c.message = message;
    keep(input, c);
  }
  void keep(uint32_t input, const Compilation& c) {
    count(c.status, c.compileNs);
    out_.replace(in_.entries[input], c);
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
        w->give({});
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

  const ReplayOptions& o_;
  Inputs in_;
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
  if (!options.without.empty()) requireRules(options.without, Corpus::open(corpus).counts());
  return Replay(corpus, result, options).run();
}

} // namespace uopscope
