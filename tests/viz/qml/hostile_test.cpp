// Opens traces in the window that are cut off, damaged, made to do harm, or of a later version, and visits
// every view. The result is an error in words or a part of the trace, never a crash and never an endless
// wait.
#include "replay/schema/database.h"
#include "tests/viz/window_support.h"

#include <QFile>
#include <QTemporaryDir>
#include <random>

using namespace uopscope;
using namespace uopscope::test;

namespace {

QByteArray bytesOf(const QString& path) {
  QFile f(path);
  REQUIRE(f.open(QIODevice::ReadOnly));
  return f.readAll();
}

QString copyWith(const QTemporaryDir& folder, const QByteArray& bytes) {
  static int number = 0;
  const QString path = folder.filePath(QStringLiteral("%1.uoptrace").arg(++number));
  QFile f(path);
  REQUIRE(f.open(QIODevice::WriteOnly));
  f.write(bytes);
  return path;
}

// Opens the trace and visits every view; the window must go on, whatever is wrong with the trace.
void lookAround(Window& w, const QString& path) {
  w.session.open(path);
  w.settle();
  if (w.session.state() == QLatin1String("error")) {
    CHECK_FALSE(w.session.errorText().isEmpty());
    return;
  }
  CHECK(w.session.state() == "ready");
  for (const Qt::Key k : {Qt::Key_Right, Qt::Key_End, Qt::Key_Down, Qt::Key_BracketRight, Qt::Key_F11})
    w.key(k);
  if (const PicturePtr p = w.session.graph()->picture(); p && !p->nodes.empty()) {
    w.session.setNode(p->nodes.back().id);
    w.settle();
    w.key(Qt::Key_W);
    w.key(Qt::Key_W);
    w.key(Qt::Key_V);
  }
  for (int tab = 1; tab <= 9; ++tab) w.key(static_cast<Qt::Key>(Qt::Key_0 + tab), Qt::ControlModifier);
  w.key(Qt::Key_1, Qt::ControlModifier);
}

} // namespace

TEST_CASE("hostile: a trace cut off anywhere") {
  Window w;
  QTemporaryDir folder;
  const QByteArray whole = bytesOf(compiledTrace());
  for (const double share : {0.0, 0.01, 0.1, 0.35, 0.6, 0.9, 0.999})
    lookAround(
        w, copyWith(folder, whole.left(static_cast<qsizetype>(share * static_cast<double>(whole.size())))));
  lookAround(w, compiledTrace());
  CHECK(w.session.state() == "ready");
}

TEST_CASE("hostile: bytes flipped anywhere") {
  Window w;
  QTemporaryDir folder;
  const QByteArray whole = bytesOf(compiledTrace());
  std::mt19937 random(11);
  for (int round = 0; round < 8; ++round) {
    QByteArray bytes = whole;
    for (int k = 0; k < 40; ++k)
      bytes[static_cast<qsizetype>(random() % static_cast<uint32_t>(bytes.size()))] ^=
          static_cast<char>(1 << random() % 8);
    lookAround(w, copyWith(folder, bytes));
  }
}

TEST_CASE("hostile: rows that cannot be, and texts that are markup or endless") {
  Window w;
  QTemporaryDir folder;
  for (const char* sql : {
           "UPDATE node_block SET src = x'01' || src",
           "UPDATE node_block SET src = zeroblob(length(src))",
           "UPDATE node_block SET kinds = zeroblob(length(kinds))",
           "UPDATE kind SET op = 250 WHERE id % 3 = 0",
           "UPDATE pass SET parent = id",
           "UPDATE scope SET parent = id",
           "UPDATE step SET before = before + gain, gain = -gain",
           "UPDATE step SET gain = 12345678",
           "UPDATE pass SET root = 4000000000",
           "UPDATE text SET lines = x'ffff7ffeffffff0f00'",
           "UPDATE program SET nodes = x'fffffffffffffffffe01'",
           "UPDATE string SET value = '<h1>&amp;<img src=\"file:///etc/passwd\"><a href=\"x\">' || value",
           "UPDATE string SET value = replace(hex(zeroblob(20000)), '0', 'x')",
           "UPDATE launch SET begin_ns = -9223372036854775807, took_ns = 9223372036854775807",
       }) {
    CAPTURE(sql);
    const QString path = copyWith(folder, bytesOf(compiledTrace()));
    try {
      Database db = Database::openForWriting(path.toStdString());
      db.execute("PRAGMA ignore_check_constraints = ON");
      db.execute(sql);
    } catch (const Error&) {
      continue; // the schema refuses it
    }
    lookAround(w, path);
  }
}

TEST_CASE("hostile: a trace of a later version is refused in words") {
  Window w;
  QTemporaryDir folder;
  const QString path = copyWith(folder, bytesOf(compiledTrace()));
  Database::openForWriting(path.toStdString()).execute("PRAGMA user_version = 99");
  lookAround(w, path);
  CHECK(w.session.state() == "error");
  CHECK(w.session.errorText().contains("newer uopscope"));
  CHECK(w.item("errorText")->isVisible());
}
