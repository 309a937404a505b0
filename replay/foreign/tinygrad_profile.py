"""Reads a profile that tinygrad wrote (PROFILE=1, or VIZ=1 with SQTT=1) as JSON, for `uopscope import profile.pkl`.

    python3 tinygrad_profile.py profile.pkl -o events.json --blobs blobs.bin

A pickle may name any function to be called. Here every name stands for an inert record, so a file can make records, numbers,
texts and lists, and run nothing. `events.json` is a list of objects with a key "event"; times are nanoseconds as whole
numbers; bytes lie one after the other in `blobs.bin`, and an object tells where: {"at": 0, "size": 12}.

Exit code 1 and one line on stderr: the file is no such profile.
"""
import argparse, decimal, json, pickle, re, sys

class Record:
  """What any class, function or enumeration of the file becomes: a name, and what it was made from."""
  def __new__(cls, *arguments, **named):
    made = object.__new__(cls)
    made.arguments, made.fields = arguments, dict(named)
    return made
  def __init__(self, *arguments, **named): pass
  def __setstate__(self, state):
    for part in state if isinstance(state, tuple) else (state,):
      if isinstance(part, dict): self.fields.update({str(k): v for k, v in part.items()})
  # A list, a dictionary or a set may be made by class and items.
  def append(self, value): pass
  def extend(self, values): pass
  def add(self, value): pass
  def __setitem__(self, key, value): pass
  def __hash__(self): return id(self)

class Reader(pickle.Unpickler):
  """Gives records for names; numbers with a point are the only class of the library that is made."""
  def __init__(self, file):
    super().__init__(file)
    self.kinds = {}
  def find_class(self, module, name):
    if (module, name) == ("decimal", "Decimal"): return decimal.Decimal
    return self.kinds.setdefault((module, name), type(name.rsplit(".", 1)[-1] or "Record", (Record,), {"made_by": module}))
  def persistent_load(self, pid): raise pickle.UnpicklingError("it refers to objects outside of the file")

class Blobs:
  def __init__(self, path): self.file, self.size = open(path, "wb"), 0
  def add(self, data):
    if not isinstance(data, (bytes, bytearray)): return None
    place = {"at": self.size, "size": len(data)}
    rest = -len(data) % 16 # code objects are read where they lie, and their numbers must be aligned
    self.file.write(data + bytes(rest))
    self.size += len(data) + rest
    return place

def nanoseconds(microseconds):
  """None for an event that has no end."""
  if isinstance(microseconds, bool) or not isinstance(microseconds, (int, float, decimal.Decimal)): return None
  if not decimal.Decimal(microseconds).is_finite() or abs(microseconds) > 10**15: return None
  return int(decimal.Decimal(microseconds) * 1000)

def text(value):
  """The text of a name, which may be a TracingKey, without the colours of a terminal."""
  if isinstance(value, Record): value = value.fields.get("display_name", next(iter(value.arguments), ""))
  return re.sub(r"\x1b\[[0-9;]*m", "", value) if isinstance(value, str) else ""

def number(value): return value if isinstance(value, int) and abs(value) < 2**63 else 0

def graph_spans(fields):
  """The parts of a graph of launches: times are numbers of signals."""
  signals = fields.get("sigs") if isinstance(fields.get("sigs"), list) else []
  for entry in fields.get("ents") if isinstance(fields.get("ents"), list) else []:
    if not isinstance(entry, Record): continue
    f = entry.fields
    ends = [f.get("st_id"), f.get("en_id")]
    if not all(isinstance(i, int) and 0 <= i < len(signals) for i in ends): continue
    yield {"event": "span", "device": text(f.get("device")), "name": text(f.get("name")), "copy": bool(f.get("is_copy")),
           "begin": nanoseconds(signals[ends[0]]), "end": nanoseconds(signals[ends[1]])}

def programs_by_tag(profile):
  """Newer profiles name the program of a thread trace by its number."""
  named = {}
  for event in profile:
    if isinstance(event, Record) and type(event).__name__ == "ProfileProgramEvent" and isinstance(event.fields.get("tag"), int):
      named[event.fields["tag"]] = text(event.fields.get("name"))
  return named

def architecture(props):
  """gfx90a of 90010: a number of the driver's, two digits for each part."""
  version = props.get("gfx_target_version") if isinstance(props, dict) else None
  if not isinstance(version, int) or not 0 < version < 10**6: return ""
  return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"

def events_of(profile, blobs):
  tagged = programs_by_tag(profile)
  for event in profile:
    if not isinstance(event, Record): continue
    kind, f = type(event).__name__, event.fields
    device = text(f.get("device"))
    if kind == "ProfileRangeEvent":
      yield {"event": "span", "device": device, "name": text(f.get("name")), "copy": bool(f.get("is_copy")),
             "begin": nanoseconds(f.get("st")), "end": nanoseconds(f.get("en"))}
    elif kind == "ProfileGraphEvent": yield from graph_spans(f)
    elif kind == "ProfileDeviceEvent":
      yield {"event": "device", "device": device, "architecture": architecture(f.get("props")), "compute": nanoseconds(f.get("comp_tdiff", f.get("tdiff"))), "copy": nanoseconds(f.get("copy_tdiff", f.get("tdiff")))}
    elif kind == "ProfileProgramEvent":
      yield {"event": "program", "device": device, "name": text(f.get("name")), "code": blobs.add(f.get("lib"))}
    elif kind == "ProfileSQTTEvent":
      yield {"event": "sqtt", "device": device, "kernel": tagged.get(f.get("kern"), "") if isinstance(f.get("kern"), int) else text(f.get("kern")), "engine": number(f.get("se")), "run": number(f.get("exec_tag")),
             "trace": blobs.add(f.get("blob"))}

def main():
  parser = argparse.ArgumentParser()
  parser.add_argument("profile")
  parser.add_argument("-o", dest="output", required=True)
  parser.add_argument("--blobs", required=True)
  o = parser.parse_args()
  try:
    with open(o.profile, "rb") as file: profile = Reader(file).load()
  except OSError as error: sys.exit(f"it cannot be read: {error.strerror}")
  except Exception as error:  # a pickle that is cut off or made by hand raises anything
    sys.exit(f"no profile of tinygrad (a pickle is expected): {type(error).__name__}: {error}")
  if not isinstance(profile, list): sys.exit("no profile of tinygrad: a list of events is expected")
  events = [e for e in events_of(profile, Blobs(o.blobs)) if e.get("begin", 0) is not None]
  if not events: sys.exit("no profile of tinygrad: it holds no event")
  with open(o.output, "w") as out: json.dump(events, out)

if __name__ == "__main__": main()
