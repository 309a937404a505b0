# A progress bar on stderr with the interface and the look of the package tqdm.
#
#   for x in tqdm(range(100), desc="epoch"): ...      epoch:  42%|████▏     | 42/100 [0:04<0:05, 10.50it/s]
#
# A loop with more than `rate` iterations a second draws the bar in some of its iterations only.
import math, shutil, sys, time

_EIGHTHS = " ▏▎▍▌▋▊▉"
_SCALES = " kMGTPEZY"

def _clock(seconds):
  minutes, seconds = divmod(int(seconds), 60)
  hours, minutes = divmod(minutes, 60)
  return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"

def _scaled(x):
  """Three digits and the letter of a power of 1000: 1.00, 15.3k, 120M."""
  if not x: return "0.00"
  step = min(max(math.floor(math.log(x, 1000) + 1e-9), 0), len(_SCALES) - 1)
  number = x / 1000 ** step
  if number >= 999.5 and step + 1 < len(_SCALES): number, step = number / 1000, step + 1
  digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
  return f"{number:.{digits}f}{_SCALES[step].strip()}"

class tqdm:
  """Iterates over its argument; update(n) moves a bar without an argument to iterate over."""
  def __init__(self, iterable=None, desc="", disable=False, unit="it", unit_scale=False, total=None, rate=100):
    self.iterable, self.disable, self.unit, self.unit_scale, self.rate = iterable, disable, unit, unit_scale, rate
    self.t = total if total is not None else len(iterable) if hasattr(iterable, "__len__") else 0
    self.st, self.n, self.i, self.skip = time.perf_counter(), 0, -1, 1
    self.set_description(desc)
    self.update(0)
  @classmethod
  def __class_getitem__(cls, item): return cls
  def __iter__(self):
    assert self.iterable is not None, "there is nothing to iterate over: give tqdm an iterable"
    for item in self.iterable:
      yield item
      self.update(1)
    self.update(close=True)
  def __enter__(self): return self
  def __exit__(self, *_): self.update(close=True)
  def set_description(self, desc): self.desc = desc and f"{desc}: "
  def update(self, n=0, close=False):
    self.n += n
    self.i += 1
    if self.disable or (self.i % self.skip and not close): return
    passed = time.perf_counter() - self.st
    if passed and self.i > self.rate * passed: self.skip = max(1, int(self.i / passed / self.rate))
    print(self._line(passed), end="\n" if close else "", flush=True, file=sys.stderr)
  def _line(self, passed):
    number = _scaled if self.unit_scale else str
    done = number(self.n) + (f"/{number(self.t)}" if self.t else self.unit)
    speed = "?" if not self.n or not passed else _scaled(self.n / passed) if self.unit_scale else f"{self.n / passed:5.2f}"
    left = f"<{_clock(passed * (self.t - self.n) / self.n) if self.n else '?'}" if self.t else ""
    after = f"{done} [{_clock(passed)}{left}, {speed}{self.unit}/s]"
    columns = shutil.get_terminal_size().columns
    return f"\r{self.desc}{self._bar(max(1, columns - len(self.desc) - len(after) - 7))}{after}"[:columns + 1]
  def _bar(self, width):
    if not self.t: return ""
    eighths = int(8 * width * self.n / self.t)
    full = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    return f"{100 * self.n / self.t:3.0f}%|{full:{width}}| "
  @classmethod
  def write(cls, text): print(f"\r\x1b[K{text}", flush=True, file=sys.stderr)

def trange(n, **options): return tqdm(range(n), total=n, **options)
