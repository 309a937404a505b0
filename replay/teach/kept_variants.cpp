#include "replay/teach/kept_variants.h"

#include "engine/base/error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

// The file is untrusted: what is larger is no list of variants that a person named.
constexpr size_t kMostBytes = 4 << 20, kMostVariants = 1000, kMostName = 100;

bool isName(const std::string& name) {
  return !name.empty() && name.size() <= kMostName &&
         std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// One option of a variant, with its value. A file cannot name other options.
bool areArguments(const std::vector<std::string>& arguments) {
  static constexpr std::array kOptions = {"--without", "--opts", "--without-step", "--alternative",
                                          "--by-hand"};
  return arguments.size() == 2 && std::ranges::find(kOptions, arguments[0]) != kOptions.end() &&
         !arguments[1].empty();
}

std::optional<KeptVariant> variantOf(const Json& j) {
  if (!j.is_object() || !j.value("name", Json()).is_string() ||
      !j.value("kernel", Json()).is_number_integer() || !j.value("arguments", Json()).is_array())
    return std::nullopt;
  KeptVariant v{j["name"].get<std::string>(), j["kernel"].get<ScopeId>(), {}};
  for (const Json& a : j["arguments"]) v.arguments.push_back(a.is_string() ? a.get<std::string>() : "");
  return isName(v.name) && areArguments(v.arguments) ? std::optional(v) : std::nullopt;
}

} // namespace

KeptVariants::KeptVariants(const std::string& trace) : file_(fileFor(trace)) {
  read();
}

void KeptVariants::read() {
  all_.clear();
  isForeign_ = false;
  std::error_code none;
  const auto size = fs::file_size(file_, none);
  if (none) return;
  isForeign_ = true; // until all of it is understood
  if (size > kMostBytes) return;
  std::ifstream in(file_);
  const Json list = Json::parse(in, nullptr, false);
  if (!list.is_array()) return;
  for (const Json& j : list)
    if (auto v = variantOf(j); v && all_.size() < kMostVariants &&
                               std::ranges::find(all_, v->name, &KeptVariant::name) == all_.end())
      all_.push_back(std::move(*v));
  isForeign_ = all_.size() != list.size();
}

void KeptVariants::write() const {
  if (isForeign_)
    throw Error(ErrorKind::File,
                fmt::format("{} holds what this uopscope did not write, and is left as it is; move it "
                            "away to keep variants",
                            file_));
  Json list = Json::array();
  for (const KeptVariant& v : all_)
    list.push_back(Json{{"name", v.name}, {"kernel", v.kernel}, {"arguments", v.arguments}});
  // Written beside it and put in its place, so that a reader never sees half of it.
  const std::string half = fmt::format("{}.{}", file_, getpid());
  std::ofstream out(half);
  out << list.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  out.close();
  std::error_code fault;
  if (out) fs::rename(half, file_, fault);
  if (!out || fault) {
    std::error_code ignored;
    fs::remove(half, ignored);
    throw Error(ErrorKind::File, fmt::format("{} cannot be written{}: variants are kept beside their trace",
                                             file_, fault ? " (" + fault.message() + ")" : ""));
  }
}

const KeptVariant& KeptVariants::find(const std::string& name) const {
  const auto at = std::ranges::find(all_, name, &KeptVariant::name);
  if (at != all_.end()) return *at;
  std::string names;
  for (const KeptVariant& v : all_) names += (names.empty() ? "" : ", ") + v.name;
  throw Error(ErrorKind::Key, fmt::format("no variant is called \"{}\"; {}", name,
                                          names.empty() ? file_ + " keeps none" : "there are: " + names));
}

void KeptVariants::keep(KeptVariant variant) {
  if (!isName(variant.name))
    throw Error(ErrorKind::Value,
                fmt::format("the name of a variant is one line of at most {} bytes", kMostName));
  if (!areArguments(variant.arguments))
    throw Error(ErrorKind::Value, "a name is for one variant: give --without, --opts, --without-step, "
                                  "--alternative or --by-hand once");
  read();
  const auto at = std::ranges::find(all_, variant.name, &KeptVariant::name);
  if (at != all_.end() && *at == variant) return;
  if (at != all_.end())
    *at = std::move(variant);
  else if (all_.size() == kMostVariants)
    throw Error(ErrorKind::Value, fmt::format("{} keeps {} variants already", file_, kMostVariants));
  else
    all_.push_back(std::move(variant));
  write();
}

void KeptVariants::rename(const std::string& name, const std::string& to) {
  read();
  KeptVariant changed = find(name);
  if (name == to) return;
  if (!isName(to))
    throw Error(ErrorKind::Value,
                fmt::format("the name of a variant is one line of at most {} bytes", kMostName));
  if (std::ranges::find(all_, to, &KeptVariant::name) != all_.end())
    throw Error(ErrorKind::Value, fmt::format("another variant is called \"{}\" already", to));
  std::ranges::find(all_, name, &KeptVariant::name)->name = to;
  write();
}

void KeptVariants::forget(const std::string& name) {
  read();
  find(name);
  std::erase_if(all_, [&](const KeptVariant& v) { return v.name == name; });
  write();
}

} // namespace uopscope
