# The records of uopscope.tracked in the form that a viewer asks for: groups with their rewrites, the graphs of one rewrite
# step by step, and the time line of devices and memory. The window of uopscope reads traces of whole runs instead.
#
#   trace = RewriteTrace(tracked_keys, tracked_ctxs, uop_fields)
#   get_rewrites(trace)[0]["steps"][0]["match_count"]
#   for state in get_full_rewrite(trace.rewrites[0][0]): state["graph"], state["changed"]
import difflib, json, struct
from tinygrad.dtype import dtypes
from tinygrad.helpers import printable, word_wrap
from tinygrad.uop.ops import Ops, RewriteTrace, UOp, pyrender, srender, tracked_ctxs, tracked_keys, uop_fields
from uopscope.profiling import ProfileDeviceEvent, ProfileGraphEvent, ProfilePointEvent, ProfileRangeEvent, TracingKey
from uopscope.absent import lacking
from uopscope.colours import colour_of
__getattr__ = lacking(__name__)

trace = RewriteTrace(tracked_keys, tracked_ctxs, uop_fields)

# --- groups and their rewrites ---

def get_rewrites(t):
  """A dictionary per group: its name, and its rewrites in order of their beginning."""
  def step(group, i, s): return {"name": s.name, "loc": s.loc, "match_count": len(s.matches), "code_line": printable(s.loc), "query": f"/graph-rewrites?ctx={group}&idx={i}", "depth": s.depth, "trace": s.trace}
  return [{"name": key.display_name, "steps": [step(group, i, s) for i, s in enumerate(steps)]} for group, (key, steps) in enumerate(zip(t.keys, t.rewrites))]

def _drawn_inside(u, root):
  """Whether a node is drawn as a word in its users: constants, devices, and the UNIQUE of a buffer."""
  return u is not root and (u.op in (Ops.DEVICE, Ops.UNIQUE, Ops.LUNIQUE, Ops.CONST, Ops.VCONST) or u.op is Ops.VECTORIZE and u.src and all(s.op is Ops.CONST for s in u.src))

def uop_to_json(x):
  """{id of a node: its label, its sources as (position, id), its colour and tag}, without the nodes drawn inside others."""
  graph = {}
  for u in x.toposort():
    if _drawn_inside(u, x): continue
    text = "" if u.arg is None else u.arg if isinstance(u.arg, str) else str(u.arg).replace("\\x1b", "\x1b")  # colours in the text of an object
    label = [u.op.name] + ([word_wrap(text)] if text else [])
    if u.dtype != dtypes.void: label.append(str(u.dtype))
    label += [f"{s.op.name}{i} {_inside(s)}" for i, s in enumerate(u.src) if _drawn_inside(s, x)]
    if u.op not in (Ops.SINK, Ops.BUFFER) and u._shape: label.append(f"({','.join(map(srender, u._shape))})")
    if u.metadata: label.append(repr(u.metadata))
    graph[id(u)] = {"label": "\n".join(label), "src": [(i, id(s)) for i, s in enumerate(u.src) if not _drawn_inside(s, x)], "color": colour_of(u), "ref": None, "tag": repr(u.tag) if u.tag is not None else None}
  return graph
def _inside(u): return f"{u.src[0].arg} x{len(u.src)}" if u.op is Ops.VECTORIZE else str(u.arg)

_nodes = {}  # by number, so that an entry always gives the same node
def _node(number):
  """The node of an entry; the nodes of its sources are made first."""
  stack, made = [number], _nodes
  while stack:
    op, dtype, src, arg, tag = uop_fields[stack[-1]]
    missing = [s for s in src if s not in made]
    if missing: stack += missing
    else:
      at = stack.pop()
      made[at] = UOp(op, dtype, tuple(made[s] for s in src), arg, tag)
  return made[number]

def _text(u):
  try: return pyrender(u).splitlines()
  except Exception as e: return [f"{type(e).__name__}: {e}"]  # a graph that can be shown may have no text

def get_full_rewrite(step):
  """The graph before the first match, then after each match: with the changed nodes, the difference as text, and the rule."""
  graph = _node(step.sink)
  yield {"graph": uop_to_json(graph), "uop": str(graph), "changed": None, "diff": None, "upat": None}
  for before, after, rule, _ in step.matches:
    old, new = _node(before), _node(after)
    next_graph = graph.substitute({old: new}) if new.op is not Ops.NOOP or rule[0] else new
    changed = [id(u) for u in new.toposort() if not _drawn_inside(u, new)]
    yield {"graph": uop_to_json(next_graph), "uop": str(next_graph), "changed": changed, "diff": list(difflib.unified_diff(_text(graph), _text(next_graph), lineterm="")), "upat": (rule[:2], rule[2])}
    graph = next_graph

# --- the time line ---

class _Strings:
  """Texts by number, in order of first use."""
  def __init__(self): self.numbers = {}
  def __call__(self, text): return self.numbers.setdefault(text, len(self.numbers))

def _option(x): return 0 if x is None else x + 1

def _graph_ranges(e, shift):
  """The launches of a captured graph as events of their devices, and the graph itself as an event on a line of its own."""
  parts = [ProfileRangeEvent(entry.device, entry.name, e.sigs[entry.st_id], e.sigs[entry.en_id], entry.is_copy) for entry in e.ents]
  placed = [(p, p.st + shift(p.device, p.is_copy), p.en + shift(p.device, p.is_copy)) for p in parts]
  first = e.ents[0].device
  whole = ProfileRangeEvent(f"{first} Graph", f"batched {len(parts)}", None)
  return [(whole, min(st for _, st, _ in placed), max(en for _, _, en in placed)), *placed]

def _line_order(name):
  """The program's own lines first, then devices by name, each with its copies and memory behind it."""
  return ({"USER": 0, "TINY": 1}.get(name, 2), name)

def get_profile(profile, sort_by=_line_order):
  """Events as bytes, little endian: <IQII duration, most memory at once, length of the JSON index, number of lines>, the
  index {strings, dtypes, markers}, then each line: <B length> name, <B kind> <I count> and its events, with times in
  microseconds from the first event. Kind 0 is spans, <IIIIfI name, rewrite group, key, begin, duration, words>, where an
  option is 0 or one more than its number. Kind 1 is memory, <Q most at once> and <BII allocated, time, key> with <IQ dtype,
  bytes>; a free has <I count> users instead, <IIIB number of the launch, name, position of the parameter, 0 read 1 written 2
  both>."""
  shifts = {e.device: e for e in profile if isinstance(e, ProfileDeviceEvent)}
  def shift(device, is_copy):
    known = shifts.get(device)
    return 0 if known is None else known.copy_tdiff if is_copy else known.comp_tdiff
  spans, points = [], []
  for e in profile:
    if isinstance(e, ProfileRangeEvent) and e.en is not None:
      by = shift(e.device, e.is_copy)
      spans.append((e, e.st + by, e.en + by))
    elif isinstance(e, ProfileGraphEvent): spans += _graph_ranges(e, shift)
    elif isinstance(e, ProfilePointEvent): points.append(e)
  times = [st for _, st, _ in spans] + [e.ts for e in points]
  if not times: return None
  begin, end = min(times), max([en for _, _, en in spans] + [e.ts for e in points])
  since = lambda t: int(t - begin)

  strings, types, lines = _Strings(), {}, {}
  strings("")
  groups = {name: i for i, key in enumerate(trace.keys) for name in (key.display_name, *key.keys) if isinstance(name, str)}
  for e, st, en in sorted(spans, key=lambda span: span[1]):
    name = e.name.display_name if isinstance(e.name, TracingKey) else str(e.name)
    words = "" if not isinstance(e.name, TracingKey) or not isinstance(e.name.ret, str) else e.name.ret
    lines.setdefault(e.device, []).append(struct.pack("<IIIIfI", strings(name), _option(groups.get(name)), 0, since(st), float(en - st), strings(words)))
  packed = {device: struct.pack("<BI", 0, len(events)) + b"".join(events) for device, events in lines.items()}
  most = 0
  for device in dict.fromkeys(e.device for e in points if e.name == "alloc"):
    peak, events = _memory(device, points, since, since(end), strings, types)
    packed[f"{device} Memory"] = struct.pack("<BIQ", 1, len(events), peak) + b"".join(events)
    most = max(most, peak)
  markers = [{"ts": since(e.ts), **e.arg} for e in points if e.name == "marker"]
  index = json.dumps({"strings": list(strings.numbers), "dtypeSize": types, "markers": markers}).encode()
  out = [struct.pack("<IQII", since(end), most, len(index), len(packed)), index]
  for name in sorted(packed, key=sort_by): out += [struct.pack("<B", len(name.encode())), name.encode(), packed[name]]
  return b"".join(out)

def _memory(device, points, since, end, strings, types):
  """The most bytes at once, and the packed events of a device's memory. Memory that is never freed comes at the end, the
  last first."""
  uses, events, live, used, peak = {}, [], {}, 0, 0
  def give_back(key, at):
    nonlocal used
    used -= live.pop(key)
    users = uses.pop(key, [])
    events.append(struct.pack("<BIII", 0, at, key, len(users)) + b"".join(struct.pack("<IIIB", *user) for user in users))
  for e in sorted(points, key=lambda e: e.ts):
    if e.name == "exec":
      for position, key in enumerate(e.arg["bufs"]):
        written, read = position in e.arg["outputs"], position in e.arg["inputs"]
        uses.setdefault(key, []).append((e.key, strings(e.arg["name"]), position, 2 if read and written else int(written)))
    elif e.device != device: continue
    elif e.name == "alloc":
      live[e.key] = e.arg["sz"]
      used += e.arg["sz"]
      peak = max(peak, used)
      types[e.arg["dtype"]] = types.get(e.arg["dtype"], 0) or getattr(dtypes, e.arg["dtype"].removeprefix("dtypes.").split(".")[0], dtypes.uint8).itemsize
      events.append(struct.pack("<BIIIQ", 1, since(e.ts), e.key, strings(e.arg["dtype"]), e.arg["sz"] // types[e.arg["dtype"]]))
    elif e.name == "free" and e.key in live: give_back(e.key, since(e.ts))
  for key in reversed(list(live)): give_back(key, end)
  return peak, events
