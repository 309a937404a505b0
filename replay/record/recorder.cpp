// The queue is a list of chunks in order; the producer still fills the last one. The producer takes the lock
// once per chunk. The consumer reads complete events of every chunk, also of the one being filled, so no
// event waits for a chunk to fill up.
#include "replay/record/recorder.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "replay/record/trace_writer.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

namespace uopscope {

namespace {
constexpr auto kPoll = std::chrono::milliseconds(20);
/// Where all processors compile, the writer gets a quarter of one and makes up for it while few threads run: a recording of
/// ResNet-50 with --tier full takes 1 to 5 % less (three comparisons of 9 to 13 rounds, docs/design/performance.md).
constexpr int kNice = 5;
constexpr int64_t kCommitNs = 100'000'000;
constexpr size_t kMostKeptBytes = 64 << 20; ///< of pools whose events are not yet written
} // namespace

/// The recorders of this process, for the handlers of fork(). A child has copies of them without their writers, so it
/// forgets them. The list runs through the recorders themselves: it is there until the last one ends, after main() too.
class ForkWatch {
public:
  static void add(Recorder* recorder) {
    static const int registered = pthread_atfork(before, afterInParent, afterInChild);
    static_cast<void>(registered);
    std::lock_guard lock(mutex_);
    recorder->nextOfProcess_ = std::exchange(first_, recorder);
  }
  static void remove(Recorder* recorder) {
    std::lock_guard lock(mutex_);
    for (Recorder** at = &first_; *at; at = &(*at)->nextOfProcess_)
      if (*at == recorder) {
        *at = recorder->nextOfProcess_;
        return;
      }
  }

private:
  static void before() {
    mutex_.lock();
    for (Recorder* r = first_; r; r = r->nextOfProcess_) r->rest();
  }
  static void afterInParent() {
    for (Recorder* r = first_; r; r = r->nextOfProcess_) r->goOn();
    mutex_.unlock();
  }
  static void afterInChild() {
    for (Recorder* r = std::exchange(first_, nullptr); r; r = r->nextOfProcess_) {
      r->finished_ = true; // nobody reads the child's events
      r->mutex_.unlock();
    }
    mutex_.unlock();
  }

  static constinit std::mutex mutex_;
  static constinit Recorder* first_;
};
constinit std::mutex ForkWatch::mutex_;
constinit Recorder* ForkWatch::first_ = nullptr;

Recorder::Recorder(RecorderOptions options)
    : EventSource(options.tier, ruleBook_, progressOf(options, ownProgress_), options.alsoCounts),
      path_(options.path), options_(std::move(options)) {
  Database db = Database::create(path_);
  queue_.push_back(std::make_unique<Chunk>());
  current_ = queue_.back().get();
  // Signals belong to the thread that runs the script.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread(
      [this, startNs = nowNs(), file = std::move(db)]() mutable { write(std::move(file), startNs); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ForkWatch::add(this);
}

Recorder::~Recorder() {
  finish("interrupted", "the program ended without closing the recording");
}

Event& Recorder::next() {
  if (used_ == Chunk::kEvents) {
    std::unique_lock lock(mutex_);
    if (finished_) { // the writer has stopped reading
      used_ = 0;
      return current_->events[0];
    }
    if (auto hasSpace = [&] { return queue_.size() * Chunk::kEvents < options_.maxEvents; }; !hasSpace()) {
      int64_t began = nowNs();
      space_.wait(lock, hasSpace);
      waitedNs_ += nowNs() - began;
    }
    std::unique_ptr<Chunk> chunk;
    if (spare_.empty()) {
      chunk = std::make_unique<Chunk>();
    } else {
      chunk = std::move(spare_.back());
      spare_.pop_back();
    }
    queue_.push_back(std::move(chunk));
    current_ = queue_.back().get();
    used_ = 0;
    work_.notify_one();
  }
  return current_->events[used_];
}

void Recorder::waitForWriter(bool commit) {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  uint64_t ticket = ++wanted_;
  commitWanted_ |= commit;
  work_.notify_one();
  int64_t began = nowNs();
  done_.wait(lock, [&] { return reached_ >= ticket || finished_; });
  waitedNs_ += nowNs() - began;
}

void Recorder::poolRetired(Pool& pool) {
  if (!takeTouched(pool) || finished_) return;
  Event& e = next();
  e.kind = EventKind::PoolRetired;
  e.rule = pool.serial();
  publish();
  waitForWriter(/*commit=*/false);
}

void Recorder::keptPool(size_t bytes) {
  if (keptBytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > kMostKeptBytes)
    waitForWriter(/*commit=*/false);
}

void Recorder::flush() {
  waitForWriter(/*commit=*/true);
}

std::string Recorder::failure() {
  std::lock_guard lock(mutex_);
  return failure_;
}

bool Recorder::commitFromSignal(int signal, int milliseconds) noexcept {
  if (!thread_.joinable() || pthread_equal(pthread_self(), thread_.native_handle())) return false;
  signal_.store(signal);
  int ticket = signalAsk_.fetch_add(1) + 1;
  for (int k = 0; k < milliseconds; ++k) {
    if (signalDone_.load() >= ticket) return true;
    timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return false;
}

void Recorder::noteCosts() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  writer_->setMeta("time.observing_ns", fmt::format("{}", ticksToNs(progress_.observingTicks)));
  writer_->setMeta("time.waited_ns", fmt::format("{}", waitedNs_.load()));
  writer_->setMeta("time.writer_ns", fmt::format("{}", used.tv_sec * 1'000'000'000 + used.tv_nsec));
}

void Recorder::finish(std::string_view status, std::string_view message) {
  if (!thread_.joinable()) return;
  addUpCost();
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    status_ = status;
    message_ = message;
    work_.notify_one();
  }
  thread_.join();
  ForkWatch::remove(this);
}

void Recorder::rest() {
  std::unique_lock lock(mutex_);
  forking_ = true;
  work_.notify_one();
  rested_.wait(lock, [&] { return resting_ || finished_; });
  lock.release(); // the child must find the lock in the hands of its only thread
}

void Recorder::goOn() {
  forking_ = false;
  mutex_.unlock();
  work_.notify_one();
}

void Recorder::restWhileForking() {
  std::unique_lock lock(mutex_);
  if (!forking_) return;
  resting_ = true;
  rested_.notify_one();
  work_.wait(lock, [&] { return !forking_; });
  resting_ = false;
}

bool Recorder::consumeSome() {
  Chunk* chunk;
  {
    std::lock_guard lock(mutex_);
    chunk = queue_.front().get();
  }
  uint32_t ready = chunk->count.load(std::memory_order_acquire);
  bool any = consumed_ < ready;
  for (; consumed_ < ready; ++consumed_) {
    Event& e = chunk->events[consumed_];
    if (failure_.empty()) {
      try {
        writer_->consume(e);
      } catch (const Error& error) {
        fail(error.what());
      }
    }
    if (e.payload && e.payload->pool)
      keptBytes_.fetch_sub(e.payload->pool->bytes(), std::memory_order_relaxed);
    e = Event();
  }
  if (consumed_ == Chunk::kEvents) {
    std::lock_guard lock(mutex_);
    if (queue_.size() == 1) return any; // the producer has not asked for a further chunk yet
    chunk->count.store(0, std::memory_order_relaxed);
    any = true;
    if (spare_.size() < 4) spare_.push_back(std::move(queue_.front()));
    queue_.pop_front();
    consumed_ = 0;
    space_.notify_one();
  }
  if (writer_) {
    progress_.steps.store(static_cast<uint64_t>(writer_->steps()), std::memory_order_relaxed);
    progress_.rowsWritten.store(writer_->rows(), std::memory_order_relaxed);
  }
  return any;
}

void Recorder::fail(const std::string& message) {
  {
    std::lock_guard lock(mutex_);
    failure_ = message;
  }
  progress_.diskFull = true;
  fmt::print(stderr, "uopscope: recording stopped, the script goes on: {}\n", message);
  if (!writer_) return; // not even the tables had room
  writer_->abandon();
  try {
    writer_->setMeta("status", traceStatus::kFull);
    writer_->setMeta("message", message);
    writer_->commit();
  } catch (const Error&) {
    writer_->abandon();
  }
}

void Recorder::begin(Database db, int64_t startNs) {
  try {
    writer_ = std::make_unique<TraceWriter>(std::move(db), options_.tier, ruleBook_, startNs);
    for (const auto& [key, value] : options_.meta) writer_->setMeta(key, value);
    writer_->setMeta("settings", *settingsAtBegin_);
    for (const std::string& file : options_.files) writer_->addFileText(file);
    writer_->commit();
    if (!options_.laterMeta) return;
    for (const auto& [key, value] : options_.laterMeta()) writer_->setMeta(key, value);
  } catch (const Error& error) {
    fail(error.what());
  }
}

void Recorder::write(Database db, int64_t startNs) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice); // of this thread alone
  begin(std::move(db), startNs);
  int64_t lastCommit = nowNs();
  auto commit = [&] {
    lastCommit = nowNs();
    if (!failure_.empty()) return;
    try {
      writer_->commit();
    } catch (const Error& error) {
      fail(error.what());
    }
  };
  for (;;) {
    uint64_t ticket;
    int signalTicket = signalAsk_.load();
    bool stopping, commitWanted;
    {
      std::lock_guard lock(mutex_);
      ticket = wanted_;
      stopping = stop_;
      commitWanted = std::exchange(commitWanted_, false);
    }
    while (consumeSome()) {
      if (nowNs() - lastCommit > kCommitNs) commit();
      restWhileForking();
    }
    bool asked = signalDone_.load() < signalTicket;
    if (asked && failure_.empty()) {
      try {
        writer_->setMeta("status", traceStatus::kCrashed);
        writer_->setMeta("message", fmt::format("the program died of SIG{}", sigabbrev_np(signal_.load())));
      } catch (const Error& error) {
        fail(error.what());
      }
    }
    if (asked || stopping || commitWanted || nowNs() - lastCommit > kCommitNs) commit();
    if (asked) signalDone_.store(signalTicket);
    if (stopping) break;
    restWhileForking();
    std::unique_lock lock(mutex_);
    if (reached_ < ticket) {
      reached_ = ticket;
      done_.notify_all();
    }
    if (wanted_ == ticket && !stop_) work_.wait_for(lock, kPoll);
  }
  if (failure_.empty()) {
    try {
      noteCosts();
      writer_->finish(status_, message_, nowNs());
    } catch (const Error& error) {
      fail(error.what());
    }
  }
  writer_.reset();
  progress_.closed = failure_.empty();
  std::lock_guard lock(mutex_);
  finished_ = true;
  done_.notify_all();
  rested_.notify_all();
}

} // namespace uopscope
