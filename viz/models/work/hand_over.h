// Work that Qt's events carry to an object's thread. Debian's Qt is not built with the thread sanitizer, which therefore sees no
// order between the posting of an event and its delivery; the functor tells it. Without the sanitizer it costs nothing.
//
//   handOver(object, [this, rows] { setRows(rows); });      // runs on the object's thread; at once where that is ours
//   startOn(pool, [rows] { paint(rows); });                 // runs on a thread of the pool
//   threadEnds(thread, place);                              // before start(): what the thread did is known after joined(place)
#pragma once
#include <QObject>
#include <QRunnable>
#include <QThread>
#include <QThreadPool>
#include <utility>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace uopscope {

#ifdef __SANITIZE_THREAD__
inline void releaseTo(const void* place) {
  __tsan_release(const_cast<void*>(place));
}
inline void acquireFrom(const void* place) {
  __tsan_acquire(const_cast<void*>(place));
}
#else
inline void releaseTo(const void*) {}
inline void acquireFrom(const void*) {}
#endif

/// A functor that one thread makes, and another one runs and drops.
template <typename F>
class HandedOver {
public:
  explicit HandedOver(F f) : f_(std::move(f)) {}
  HandedOver(HandedOver&& other) noexcept : f_(std::move(other.f_)) { releaseTo(this); }
  HandedOver(const HandedOver&) = delete;
  HandedOver& operator=(const HandedOver&) = delete;
  HandedOver& operator=(HandedOver&&) = delete;
  ~HandedOver() { acquireFrom(this); }
  void operator()() {
    acquireFrom(this);
    f_();
    releaseTo(this);
  }

private:
  F f_;
};

template <typename F>
void handOver(QObject* to, F f) {
  QMetaObject::invokeMethod(to, HandedOver<F>(std::move(f)));
}

/// A functor that a thread of a pool runs and drops.
template <typename F>
class HandedOverRun : public QRunnable {
public:
  explicit HandedOverRun(F f) : f_(std::move(f)) { releaseTo(&f_); }
  void run() override { f_(); }

private:
  HandedOver<F> f_;
};

template <typename F>
void startOn(QThreadPool& pool, F f) {
  pool.start(new HandedOverRun<F>(std::move(f))); // the pool owns it
}

/// `place`: any address of the owner that outlives the thread.
inline void threadEnds(const QThread& thread, const void* place) {
  QObject::connect(&thread, &QThread::finished, &thread, [place] { releaseTo(place); }, Qt::DirectConnection);
}
/// After QThread::wait().
inline void joined(const void* place) {
  acquireFrom(place);
}

} // namespace uopscope
