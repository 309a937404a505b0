// Reads and writes the tables of an experiment file; bench.sql describes them.
#include "replay/experiment/experiment.h"

#include "replay_experiment_embedded.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

constexpr int64_t kApplicationId = 0x554f4245, kVersion = 2;

const char* columnOf(Metric metric) {
  switch (metric) {
  case Metric::Wall: return "wall_ns";
  case Metric::Cpu: return "cpu_ns";
  case Metric::Kernel: return "kernel_ns";
  case Metric::Compile: return "compile_ns";
  case Metric::Schedule: return "schedule_ns";
  case Metric::Search: return "search_ns";
  case Metric::Peak: return "peak_bytes";
  case Metric::DeviceBytes: return "device_bytes";
  }
  return "";
}

} // namespace

const char* metricName(Metric metric) {
  switch (metric) {
  case Metric::Wall: return "wall";
  case Metric::Cpu: return "cpu";
  case Metric::Kernel: return "kernels";
  case Metric::Compile: return "compile";
  case Metric::Schedule: return "schedule";
  case Metric::Search: return "search";
  case Metric::Peak: return "peak memory";
  case Metric::DeviceBytes: return "buffers";
  }
  return "";
}

bool isBytes(Metric metric) {
  return metric == Metric::Peak || metric == Metric::DeviceBytes;
}

std::string amountText(Metric metric, double v) {
  return amountText(metric, v, v);
}

std::string amountText(Metric metric, double v, double like) {
  if (isBytes(metric))
    return like >= 1e9   ? fmt::format("{:.2f} GB", v / 1e9)
           : like >= 1e6 ? fmt::format("{:.1f} MB", v / 1e6)
                         : fmt::format("{:.1f} kB", v / 1e3);
  return like >= 1e9   ? fmt::format("{:.3f} s", v / 1e9)
         : like >= 1e6 ? fmt::format("{:.2f} ms", v / 1e6)
                       : fmt::format("{:.1f} µs", v / 1e3);
}

std::string BenchCell::name() const {
  std::string text;
  for (const auto& [key, value] : settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return text.empty() ? "as it is" : text;
}

Experiment Experiment::create(const std::string& path, const std::map<std::string, std::string>& meta) {
  Experiment e(Database::create(path));
  for (const auto& [file, sql] : replay_experimentEmbedded()) e.db_.execute(std::string(sql));
  Statement insert = e.db_.prepare("INSERT INTO meta (key, value) VALUES (?, ?)");
  for (const auto& [key, value] : meta)
    insert.bind(1, std::string_view(key)).bind(2, std::string_view(value)).run();
  return e;
}

Experiment Experiment::open(const std::string& path) {
  Experiment e(Database::openReadOnly(path));
  if (e.db_.pragma("application_id") != kApplicationId)
    throw Error(ErrorKind::File,
                fmt::format("{}: no experiment; `uopscope bench run SCRIPT -o FILE` makes one", path));
  if (const int64_t v = e.db_.pragma("user_version"); v < 1 || v > kVersion)
    throw Error(ErrorKind::File,
                fmt::format("{}: made by a newer uopscope (format {}, this one reads up to {})", path,
                            e.db_.pragma("user_version"), kVersion));
  return e;
}

int64_t Experiment::cell(const BenchSettings& settings) {
  const std::string text = nlohmann::json(settings).dump();
  Statement find = db_.prepare("SELECT id FROM cell WHERE settings = ?");
  if (find.bind(1, std::string_view(text)).step()) return find.integer(0);
  db_.prepare("INSERT INTO cell (settings) VALUES (?)").bind(1, std::string_view(text)).run();
  find.reset();
  find.bind(1, std::string_view(text)).step();
  return find.integer(0);
}

void Experiment::add(const BenchRun& run) {
  Statement insert =
      db_.prepare("INSERT INTO run (cell, round, place, exit_code, wall_ns, cpu_ns, peak_bytes, schedule_ns, "
                  "compile_ns, search_ns, kernel_ns, kernels, launches, device_bytes, output) VALUES "
                  "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(1, run.cell).bind(2, int64_t{run.round}).bind(3, run.place).bind(4, int64_t{run.exitCode});
  insert.bind(5, run.wallNs).bind(6, run.cpuNs).bind(7, run.peakBytes);
  int column = 8;
  for (const char* key :
       {"schedule_ns", "compile_ns", "search_ns", "kernel_ns", "kernels", "launches", "device_bytes"}) {
    if (run.measured.is_object() && run.measured.contains(key))
      insert.bind(column, run.measured[key].get<int64_t>());
    else
      insert.bindNull(column);
    ++column;
  }
  insert.bind(15, std::string_view(run.output)).run();
  if (run.round != 1 || !run.measured.is_object()) return;
  Statement kernel =
      db_.prepare("INSERT INTO kernel (cell, name, launches, median_ns, source) VALUES (?, ?, ?, ?, ?)");
  for (const auto& k : run.measured.value("by_kernel", nlohmann::json::array()))
    kernel.bind(1, run.cell)
        .bind(2, std::string_view(k["name"].get_ref<const std::string&>()))
        .bind(3, k["launches"].get<int64_t>())
        .bind(4, k["median_ns"].get<int64_t>())
        .bind(5, std::string_view(k["source"].get_ref<const std::string&>()))
        .run();
}

void Experiment::keepCompilations(int64_t cell, const std::string& corpus) {
  Statement insert = db_.prepare("INSERT OR IGNORE INTO compilations (cell, corpus) VALUES (?, ?)");
  insert.bind(1, cell)
      .bindBlob(2, std::span(reinterpret_cast<const uint8_t*>(corpus.data()), corpus.size()))
      .run();
}

std::vector<int64_t> Experiment::captured() const {
  std::vector<int64_t> out;
  if (db_.pragma("user_version") < 2) return out;
  for (Statement s = db_.prepare("SELECT cell FROM compilations LIMIT 10000"); s.step();)
    out.push_back(s.integer(0));
  return out;
}

std::optional<std::string> Experiment::compilations(int64_t cell) const {
  if (db_.pragma("user_version") < 2) return {};
  Statement s = db_.prepare("SELECT corpus FROM compilations WHERE cell = ?");
  if (!s.bind(1, cell).step()) return {};
  const std::span<const uint8_t> bytes = s.blob(0);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void Experiment::merge(const Experiment& part) {
  for (const char* key : {"script", "script_hash", "matrix", "seed", "repeat", "warmup"})
    if (meta(key) != part.meta(key))
      throw Error(ErrorKind::Value,
                  fmt::format("{} and {} are parts of different experiments: {} is \"{}\" and \"{}\"", path(),
                              part.path(), key, meta(key), part.meta(key)));
  std::map<int64_t, int64_t> idOf;
  for (const BenchCell& c : part.cells()) {
    const int64_t id = idOf[c.id] = cell(c.settings);
    if (const auto corpus = part.compilations(c.id)) keepCompilations(id, *corpus);
  }
  Statement runs = part.db_.prepare(
      "SELECT cell, round, place, exit_code, wall_ns, cpu_ns, peak_bytes, schedule_ns, compile_ns, "
      "search_ns, kernel_ns, kernels, launches, device_bytes, output FROM run ORDER BY place, round");
  Statement there = db_.prepare("SELECT 1 FROM run WHERE cell = ? AND round = ? AND place = ?");
  while (runs.step()) {
    there.reset();
    const int64_t id = idOf.at(runs.integer(0));
    if (there.bind(1, id).bind(2, runs.integer(1)).bind(3, runs.integer(2)).step())
      continue; // the run is already in the file
    BenchRun run{id,
                 static_cast<int>(runs.integer(1)),
                 runs.integer(2),
                 static_cast<int>(runs.integer(3)),
                 runs.integer(4),
                 runs.integer(5),
                 runs.integer(6),
                 {},
                 std::string(runs.text(14))};
    int column = 7;
    for (const char* key :
         {"schedule_ns", "compile_ns", "search_ns", "kernel_ns", "kernels", "launches", "device_bytes"}) {
      if (!runs.isNull(column)) run.measured[key] = runs.integer(column);
      ++column;
    }
    if (run.round == 1)
      for (const BenchKernel& k : part.kernels(runs.integer(0)))
        run.measured["by_kernel"].push_back(
            {{"name", k.name}, {"launches", k.launches}, {"median_ns", k.medianNs}, {"source", k.source}});
    add(run);
  }
}

std::vector<BenchCell> Experiment::cells() const {
  std::vector<BenchCell> out;
  for (Statement s = db_.prepare("SELECT id, settings FROM cell ORDER BY settings"); s.step();) {
    auto settings = nlohmann::json::parse(s.text(1), nullptr, false);
    if (!settings.is_object())
      throw Error(ErrorKind::File,
                  fmt::format("{}: the settings of cell {} are no JSON object; the file is damaged", path(),
                              s.integer(0)));
    BenchCell& cell = out.emplace_back();
    cell.id = s.integer(0);
    for (const auto& [key, value] : settings.items())
      // Our files hold strings. A list nested a million deep would end dump() by a stack overflow.
      cell.settings[key] = value.is_string() ? value.get<std::string>() : value.type_name();
  }
  return out;
}

std::vector<double> Experiment::values(int64_t cell, Metric metric) const {
  const char* column = columnOf(metric);
  Statement s = db_.prepare(fmt::format(
      "SELECT {0} FROM run WHERE cell = ? AND round > 0 AND exit_code = 0 AND {0} IS NOT NULL ORDER BY round",
      column));
  std::vector<double> out;
  for (s.bind(1, cell); s.step();) out.push_back(static_cast<double>(s.integer(0)));
  return out;
}

std::pair<int64_t, std::string> Experiment::failures(int64_t cell) const {
  Statement s = db_.prepare(
      "SELECT exit_code, output FROM run WHERE cell = ? AND round > 0 AND exit_code != 0 ORDER BY round");
  std::pair<int64_t, std::string> out;
  for (s.bind(1, cell); s.step(); ++out.first)
    if (!out.first) out.second = s.text(1);
  return out;
}

std::optional<std::pair<int64_t, int64_t>> Experiment::kernelsAndLaunches(int64_t cell) const {
  Statement s = db_.prepare("SELECT kernels, launches FROM run WHERE cell = ? AND round > 0 AND launches IS "
                            "NOT NULL ORDER BY round LIMIT 1");
  if (!s.bind(1, cell).step()) return {};
  return std::pair(s.integer(0), s.integer(1));
}

std::vector<BenchKernel> Experiment::kernels(int64_t cell) const {
  Statement s = db_.prepare(
      "SELECT name, source, launches, median_ns FROM kernel WHERE cell = ? ORDER BY name, source");
  std::vector<BenchKernel> out;
  for (s.bind(1, cell); s.step();)
    out.push_back({std::string(s.text(0)), std::string(s.text(1)), s.integer(2), s.integer(3)});
  return out;
}

std::string Experiment::meta(const std::string& key) const {
  Statement s = db_.prepare("SELECT value FROM meta WHERE key = ?");
  return s.bind(1, std::string_view(key)).step() ? std::string(s.text(0)) : std::string();
}

std::map<std::string, std::string> Experiment::meta() const {
  std::map<std::string, std::string> out;
  for (Statement s = db_.prepare("SELECT key, value FROM meta"); s.step();)
    out[std::string(s.text(0))] = s.text(1);
  return out;
}

} // namespace uopscope
