// All-reduce: afterwards every device has the reduction of all parts.
//
//   naive       each device copies every part: n^2 transfers of the whole
//   all-to-all  device i reduces chunk i of every part, and sends it to all devices
//   ring        chunk i travels around the devices and grows at each, then travels around once more unchanged
#include "engine/base/context_var.h"
#include "engine/tensor/multi.h"

namespace uopscope {

namespace {

ContextVar ring("RING", 1,
                "all-reduce around a ring: 0 never, 1 for large values on more than two devices, 2 always");
ContextVar allToAll("ALL2ALL", 0, "all-reduce by exchange of chunks: 0 never, 1 for large values, 2 always");
constexpr int64_t kLarge = 256'000;

struct Chunk {
  int64_t begin, end;
};

/// n pieces of nearly equal length. The lengths are multiples of a power of two if possible.
std::vector<Chunk> chunksOf(int64_t numel, size_t n) {
  int64_t factor = 32;
  while (numel % factor) factor /= 2;
  int64_t units = numel / factor, count = static_cast<int64_t>(n);
  std::vector<Chunk> out;
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t length = (units / count + (i < units % count)) * factor;
    out.push_back({at, at + length});
    at += length;
  }
  return out;
}

UOp combine(Op op, const std::vector<UOp>& values) {
  UOp all = values[0];
  for (size_t i = 1; i < values.size(); ++i) all = all.alu(op, {values[i]});
  return all;
}

} // namespace

std::vector<UOp> allReduce(const std::vector<UOp>& parts, Op op) {
  size_t n = parts.size();
  Sint size = prod(parts[0].shape());
  bool large = n > 2 && size.isInt() && size.i() > kLarge;
  bool exchange = size.isInt() && (allToAll >= 2 || (large && allToAll >= 1));
  bool around = size.isInt() && !exchange && (ring >= 2 || (large && ring >= 1));
  std::vector<std::string> devices;
  std::vector<UOp> sources, out;
  for (UOp p : parts) {
    devices.push_back(p.device());
    sources.push_back(graph::contiguous(p));
  }
  if (!exchange && !around) {
    for (const std::string& d : devices) {
      std::vector<UOp> here;
      for (UOp s : sources) here.push_back(graph::copyTo(s, d));
      out.push_back(combine(op, here));
    }
    return out;
  }
  int64_t numel = size.i();
  std::vector<Chunk> chunks = chunksOf(numel, n);
  auto piece = [&](size_t part, const Chunk& c) {
    return graph::shrink(graph::reshape(sources[part], {Sint(numel)}), {{Sint(c.begin), Sint(c.end)}});
  };
  // arrived[i][d]: the reduced chunk i on device d
  std::vector<std::vector<UOp>> arrived(n, std::vector<UOp>(n));
  for (size_t i = 0; i < n; ++i) {
    if (chunks[i].begin == chunks[i].end) continue;
    if (exchange) {
      std::vector<UOp> here;
      for (size_t k = 0; k < n; ++k) here.push_back(graph::copyTo(piece(k, chunks[i]), devices[i]));
      UOp whole = combine(op, here);
      for (size_t d = 0; d < n; ++d) arrived[i][d] = graph::copyTo(whole, devices[d]);
      continue;
    }
    UOp travelling = piece(i, chunks[i]);
    for (size_t step = 1; step < n; ++step) {
      size_t d = (i + step) % n;
      travelling = graph::copyTo(graph::contiguous(travelling), devices[d]).alu(op, {piece(d, chunks[i])});
    }
    arrived[i][(i + n - 1) % n] = travelling;
    for (size_t step = 0; step + 1 < n; ++step) {
      travelling = graph::copyTo(graph::contiguous(travelling), devices[(i + step) % n]);
      arrived[i][(i + step) % n] = travelling;
    }
  }
  for (size_t d = 0; d < n; ++d) {
    UOp whole;
    for (size_t i = 0; i < n; ++i) {
      if (!arrived[i][d]) continue;
      UOp part = graph::pad(arrived[i][d], {{Sint(chunks[i].begin), Sint(numel - chunks[i].end)}});
      whole = whole ? whole.alu(Op::ADD, {part}) : part;
    }
    out.push_back(graph::reshape(whole, parts[0].shape()));
  }
  return out;
}

} // namespace uopscope
