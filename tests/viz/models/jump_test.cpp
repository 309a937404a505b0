// Jumping by name: results show their place, so that entries with one name can be told apart.
#include "tests/viz/support.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Three kernels of one name, each with a pass of one name and a loop of its own.
QString alikeTrace(const TempTrace& file) {
  recordTo(file.path, [] {
    for (int k = 0; k < 3; ++k) {
      Pool pool;
      PoolScope scope(pool);
      ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_16_25_4", .script = {}, .root = {}});
      graphRewrite(UOp::sink(std::vector<UOp>{UOp::range(16 + k, 0) + 0}), shrinking(), {.name = "shrink"});
    }
  });
  return QString::fromStdString(file.path);
}

std::vector<QVariantMap> found(Session& session, const QString& query, const QString& kind) {
  PaletteModel& palette = *session.jump()->palette();
  palette.setQuery(query);
  REQUIRE(waitFor([&] { return session.settled(); }));
  std::vector<QVariantMap> out;
  for (int i = 0; i < palette.count(); ++i)
    if (const QVariantMap entry = palette.entry(i); entry["kind"] == kind) out.push_back(entry);
  return out;
}

} // namespace

TEST_CASE("jump: kernels of one name are numbered, passes and nodes of all kernels say whose they are") {
  application();
  const TempTrace file;
  Session session;
  session.preferences()->setPersistent(false);
  session.open(alikeTrace(file));
  REQUIRE(waitFor([&] { return session.settled(); }));
  session.jump()->prepare();

  const auto kernels = found(session, "r_16", "kernel");
  REQUIRE(kernels.size() == 3);
  QStringList names;
  for (const QVariantMap& k : kernels) names << k["text"].toString();
  names.sort();
  CHECK(names ==
        QStringList{"r_16_25_4, number 1 of 3", "r_16_25_4, number 2 of 3", "r_16_25_4, number 3 of 3"});

  const auto passes = found(session, "shrink", "pass");
  REQUIRE(passes.size() == 3);
  for (const QVariantMap& p : passes) CHECK(p["detail"].toString().contains("r_16_25_4, number "));

  const auto nodes = found(session, "/range loop", "node");
  REQUIRE(nodes.size() >= 3);
  QStringList places;
  for (const QVariantMap& n : nodes) places << n["detail"].toString();
  for (int k = 1; k <= 3; ++k)
    CHECK_MESSAGE(std::ranges::any_of(places,
                                      [&](const QString& p) {
                                        return p.startsWith(
                                            QStringLiteral("r_16_25_4, number %1 of 3 › shrink").arg(k));
                                      }),
                  places.join('|').toStdString());
  // A choice goes to the kernel that it names.
  session.jump()->choose(nodes.back());
  REQUIRE(waitFor([&] { return session.settled() && session.node() >= 0; }));
  CHECK(places.back().startsWith(session.scopeName()));
  CHECK(session.passName() == "shrink");
}
