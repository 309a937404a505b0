// Speaks the line protocol of replay/record/debug_gate.h over a local socket that only this user can open.
#include "viz/models/record/live_control.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>
#include <cstring>

namespace uopscope {

QString breakpointOf(const QString& condition) {
  static const QRegularExpression form(QStringLiteral("^(?:(rule|op|into|pass|kernel)[:=])?([^\\s:=<>]+)$"));
  QStringList out;
  for (const QString& word : condition.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    const auto m = form.match(word);
    if (!m.hasMatch() || word == QLatin1String("where")) return {};
    const QString field = m.captured(1).isEmpty() ? QStringLiteral("rule") : m.captured(1);
    out << field + QLatin1Char('=') +
               (field == QLatin1String("op") || field == QLatin1String("into") ? m.captured(2).toUpper()
                                                                               : m.captured(2));
  }
  return out.join(QLatin1Char(' '));
}

LiveControl::LiveControl(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(session_.recorder(), &RecordingProcess::finished, this, &LiveControl::hangUp);
}

LiveControl::~LiveControl() {
  hangUp();
  incoming_.reset();
  if (listener_ >= 0) ::close(listener_);
  if (!socketPath_.isEmpty()) QFile::remove(socketPath_);
}

bool LiveControl::listen() {
  if (listener_ >= 0) return true;
  static int number = 0;
  QString folder = QStandardPaths::writableLocation(QStandardPaths::RuntimeLocation);
  if (folder.isEmpty() || folder.size() > 60) folder = QDir::tempPath();
  socketPath_ = QStringLiteral("%1/uopscope-%2-%3.sock")
                    .arg(folder)
                    .arg(QCoreApplication::applicationPid())
                    .arg(++number);
  QFile::remove(socketPath_);
  const QByteArray path = QFile::encodeName(socketPath_);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (static_cast<size_t>(path.size()) >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.constData(), static_cast<size_t>(path.size()) + 1);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 1) != 0) {
    if (listener_ >= 0) ::close(listener_);
    listener_ = -1;
    return false;
  }
  QFile::setPermissions(socketPath_, QFileDevice::ReadOwner | QFileDevice::WriteOwner);
  incoming_ = std::make_unique<QSocketNotifier>(listener_, QSocketNotifier::Read);
  connect(incoming_.get(), &QSocketNotifier::activated, this, &LiveControl::accept);
  return true;
}

void LiveControl::record(const QString& script) {
  if (!listen()) {
    session_.showNotice(tr("No socket can be made in %1: the recording cannot be stopped at breakpoints.")
                            .arg(QFileInfo(socketPath_).path()));
    return;
  }
  session_.recorder()->setGate(socketPath_);
  session_.open(script);
  session_.recorder()->setGate({});
}

void LiveControl::accept() {
  const int fresh = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fresh < 0) return;
  if (peer_ >= 0) { // there is one recording at a time
    ::close(fresh);
    return;
  }
  peer_ = fresh;
  pending_.clear();
  readable_ = std::make_unique<QSocketNotifier>(peer_, QSocketNotifier::Read);
  connect(readable_.get(), &QSocketNotifier::activated, this, &LiveControl::read);
  for (const QString& b : breakpoints_) send(QStringLiteral("break ") + b);
  send(breakpoints_.isEmpty() ? QStringLiteral("pause") : QStringLiteral("continue"));
  Q_EMIT changed();
}

void LiveControl::hangUp() {
  readable_.reset();
  if (peer_ >= 0) ::close(peer_);
  peer_ = -1;
  paused_ = false;
  where_.clear();
  Q_EMIT changed();
}

void LiveControl::read() {
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::recv(peer_, buffer, sizeof buffer, 0);
    if (got > 0) {
      pending_.append(buffer, got);
      continue;
    }
    if (got == 0) QMetaObject::invokeMethod(this, &LiveControl::hangUp, Qt::QueuedConnection);
    break;
  }
  for (qsizetype end; (end = pending_.indexOf('\n')) >= 0;) {
    const QString line = QString::fromUtf8(pending_.left(end));
    pending_.remove(0, end + 1);
    heard(line);
  }
}

void LiveControl::heard(const QString& line) {
  const QStringList f = line.split(QLatin1Char('\t'));
  if (f[0] == QLatin1String("paused")) {
    paused_ = true;
    where_ = {{"kernel", f.value(1)},        {"pass", f.value(2)}, {"steps", f.value(3).toLongLong()},
              {"depth", f.value(4).toInt()}, {"rule", f.value(5)}, {"before", f.value(6)},
              {"after", f.value(7)}};
    session_.showLatest();
  } else if (f[0] == QLatin1String("running")) {
    paused_ = false;
    where_.clear();
  } else if (f[0] == QLatin1String("problem")) {
    session_.showNotice(f.value(1));
  }
  Q_EMIT changed();
}

void LiveControl::send(const QString& line) {
  const QByteArray bytes = line.toUtf8() + '\n';
  if (peer_ >= 0 && ::send(peer_, bytes.constData(), static_cast<size_t>(bytes.size()), MSG_NOSIGNAL) < 0)
    hangUp();
}

void LiveControl::setBreakpoints(const QStringList& breakpoints) {
  breakpoints_ = breakpoints;
  if (connected()) {
    send(QStringLiteral("clear"));
    for (const QString& b : breakpoints_) send(QStringLiteral("break ") + b);
  }
  Q_EMIT changed();
}

void LiveControl::order(const QString& what) {
  if (!connected()) {
    session_.showNotice(tr("No recording is under control. Ctrl Shift R records the script that way."));
    return;
  }
  send(what);
}

} // namespace uopscope
