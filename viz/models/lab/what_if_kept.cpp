// Names of variants, links to them, and the order of the table.
#include "replay/read/link.h"
#include "replay/teach/kept_variants.h"
#include "viz/models/lab/what_if_model.h"

#include <algorithm>

namespace uopscope {

void WhatIfModel::loadKept() {
  if (!session_.trace()) return;
  const KeptVariants file(session_.path().toStdString());
  for (const KeptVariant& kept : file.all()) {
    Variant v{kept.kernel, {}, {}, {}, {}};
    for (const std::string& a : kept.arguments) v.arguments << QString::fromStdString(a);
    v.name = v.kept = QString::fromStdString(kept.name);
    v.asked = false;
    all_.push_back(std::make_shared<Variant>(std::move(v)));
  }
}

void WhatIfModel::keep(const QString& name) {
  const QString wanted = name.trimmed();
  if (current_ < 1 || current_ >= count()) return;
  const auto v = shown_[static_cast<size_t>(current_)];
  if (wanted == v->kept) return;
  if (std::ranges::any_of(all_,
                          [&](const auto& o) { return o != v && !wanted.isEmpty() && o->kept == wanted; }))
    return session_.showNotice(tr("Another variant is called %1 already.").arg(wanted));
  try {
    KeptVariants kept(session_.path().toStdString());
    if (wanted.isEmpty()) {
      kept.forget(v->kept.toStdString());
    } else if (v->kept.isEmpty()) {
      KeptVariant made{wanted.toStdString(), v->scope, {}};
      for (const QString& a : std::as_const(v->arguments)) made.arguments.push_back(a.toStdString());
      kept.keep(std::move(made));
    } else {
      kept.rename(v->kept.toStdString(), wanted.toStdString());
    }
    v->kept = wanted;
  } catch (const std::exception& e) {
    session_.showNotice(QString::fromUtf8(e.what()));
  }
  show();
}

void WhatIfModel::openKept(const QString& name) {
  Q_EMIT asked();
  const auto found = std::ranges::find_if(all_, [&](const auto& v) { return v->kept == name; });
  if (found == all_.end())
    return session_.showNotice(tr("No variant is called %1 beside this trace.").arg(name));
  wanted_ = name;
  if ((*found)->scope == session_.scope())
    show();
  else
    session_.goToScope((*found)->scope);
}

QString WhatIfModel::link() const {
  const Variant* v = chosen();
  if (!v || v->kept.isEmpty()) return {};
  Link link;
  link.kernel = std::to_string(v->scope);
  link.tab = "whatif";
  link.variant = v->kept.toStdString();
  return QString::fromStdString(link.str());
}

void WhatIfModel::sortBy(const QString& role) {
  descending_ = sort_ == role && !descending_;
  sort_ = role;
  show();
}

QVariant WhatIfModel::sortKey(const Variant& v) const {
  const QJsonObject& r = v.result;
  if (sort_ == QLatin1String("name")) return textOf(v, NameRole).toString().toLower();
  if (sort_ == QLatin1String("verdict")) return textOf(v, VerdictRole).toString();
  const QString key = sort_ == QLatin1String("time") ? QStringLiteral("seconds") : sort_;
  const double number = r[key].toDouble(-1);
  const bool timed = sort_ == QLatin1String("time") || sort_ == QLatin1String("ratio");
  if (number < 0 || (timed && r[QLatin1String("seconds")].toDouble() <= 0)) return {};
  return number;
}

// The kernel as it is stands first; rows without a number stand last, whichever way the others are.
void WhatIfModel::arrange() {
  std::ranges::stable_partition(shown_, [](const auto& v) { return v->arguments.isEmpty(); });
  if (sort_.isEmpty()) return;
  const auto first = std::ranges::find_if(shown_, [](const auto& v) { return !v->arguments.isEmpty(); });
  std::stable_sort(first, shown_.end(), [&](const auto& a, const auto& b) {
    const QVariant x = sortKey(*a), y = sortKey(*b);
    if (!x.isValid() || !y.isValid()) return x.isValid() && !y.isValid();
    const auto order = QVariant::compare(x, y);
    return descending_ ? order == QPartialOrdering::Greater : order == QPartialOrdering::Less;
  });
}

} // namespace uopscope
