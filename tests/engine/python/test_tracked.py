# Data that the process keeps while a script asks for it (TRACK_MATCH_STATS=2, PROFILE=1), and its display by tinygrad.viz.serve.
import ctypes, json, struct, subprocess, tempfile
from tinygrad import Tensor, dtypes
from tinygrad.codegen import full_rewrite_to_sink
from tinygrad.device import Buffer
from tinygrad.engine.realize import get_program
from tinygrad.helpers import Context, TracingKey, cpu_events, profile_marker
from tinygrad.runtime.support.c import Struct
from tinygrad.runtime.support.elf import elf_loader, jit_loader
from tinygrad.uop.ops import Ops, PatternMatcher, UOp, UPat, graph_rewrite, profile_matches, track_rewrites, tracked_ctxs, tracked_keys, uop_fields
from tinygrad.uop.symbolic import simplify_valid, sym
from tinygrad.viz.serve import RewriteTrace, get_full_rewrite, get_profile, get_rewrites
from check import raises, run

def listed():
  found = get_rewrites(RewriteTrace(tracked_keys, tracked_ctxs, uop_fields))
  return found
def tracked(f):
  """The groups that a call makes."""
  tracked_keys.clear(), tracked_ctxs.clear()
  with Context(TRACK_MATCH_STATS=2): f()
  return listed()

def test_rewrites_are_grouped_by_what_asks_for_them():
  a = UOp.variable("a", 0, 10)
  @track_rewrites()
  def simplify_all(u): return graph_rewrite(graph_rewrite(u, sym, name="first"), PatternMatcher([]), name="second")
  groups = tracked(lambda: (graph_rewrite(a + 0, sym), simplify_all((a + 0) * 1)))
  assert [g["name"].split(" n")[0] for g in groups] == ["default graph_rewrite", "simplify_all"]
  assert [(s["name"], s["match_count"]) for s in groups[1]["steps"]] == [("first", 2), ("second", 0)]
  assert groups[1]["steps"][0]["loc"][0].endswith("test_tracked.py")
  graph_rewrite(a + 0, sym)
  assert len(listed()[0]["steps"]) == 1  # without a request nothing is kept

def test_a_group_has_the_name_its_function_gives():
  @track_rewrites(name=lambda u, ret: TracingKey(f"from {u.render()}"))
  def named(u): return graph_rewrite(u, sym)
  assert tracked(lambda: named(UOp.variable("a", 0, 3) + 0))[0]["name"] == "from a"

def test_rewrites_inside_a_rule_are_nested():
  x = UOp.variable("x", 0, 3)
  inner = PatternMatcher([(UPat(Ops.DEFINE_VAR, name="v"), lambda v: v.rtag(1) if v.tag is None else None)])
  outer = PatternMatcher([(UPat(Ops.SINK, name="s"), lambda s: s.replace(src=(graph_rewrite(s.src[0], inner, name="inner"),)) if s.src[0].tag is None else None)])
  @profile_matches
  def both(u): return graph_rewrite(u, outer, name="outer")
  steps = tracked(lambda: both(x.sink()))[0]["steps"]
  assert [(s["name"], s["depth"]) for s in steps[:3]] == [("both", 0), ("outer", 1), ("inner", 2)]
  with Context(TRACK_MATCH_STATS=2): raises(AssertionError, lambda: both("text"))

def test_each_step_of_a_rewrite_is_a_graph():
  a = UOp.variable("a", 0, 10, dtype=dtypes.int)
  tracked(lambda: graph_rewrite(a * 0, sym))
  states = list(get_full_rewrite(tracked_ctxs[0][0]))
  assert [[n["label"].split("\n")[0] for n in s["graph"].values()] for s in states] == [["DEFINE_VAR", "MUL"], ["CONST"]]
  assert states[1]["upat"] and states[1]["diff"]
  def wrong(x): raise ValueError("three is too much")
  tracked(lambda: raises(ValueError, lambda: graph_rewrite(a + 3, PatternMatcher([(UPat(Ops.CONST, arg=3, name="x"), wrong)]))))
  assert "three is too much" in str(list(get_full_rewrite(tracked_ctxs[0][0]))[-1])

def test_schedules_and_kernels_are_groups():
  item = []
  groups = tracked(lambda: item.append((Tensor.empty(4) + Tensor.empty(4)).schedule()[0]))
  assert groups[-1]["name"].startswith("Schedule 1 Kernel n") and groups[-1]["steps"]
  program = []
  groups = tracked(lambda: program.append(get_program(item[0].ast)))
  assert groups[-1]["name"] == program[0].name
  where = tracked(lambda: (Tensor.empty(5) * 2).realize())[0]["steps"][0]["trace"]
  assert any(file == __file__ for file, *_ in where)

def lines_of(events):
  data = get_profile(events)
  _, most, index, count = struct.unpack_from("<IQII", data)
  words, names, at = json.loads(data[20:20 + index]), [], 20 + index
  for _ in range(count):
    length = data[at]
    name, at = data[at + 1:at + 1 + length].decode(), at + 1 + length
    kind, events = struct.unpack_from("<BI", data, at)
    names.append((name, events))
    at += 5
    if kind == 0: at += 24 * events
    else:
      at += 8
      for _ in range(events): at += 21 if data[at] else 13 + 13 * struct.unpack_from("<I", data, at + 9)[0]
  assert at == len(data)
  return most, words, dict(names)

def test_launches_and_memory_on_a_time_line():
  cpu_events.clear(), Buffer.profile_events.clear()
  with Context(PROFILE=1):
    a = Tensor.empty(100, device="NULL", dtype=dtypes.char)
    (a + 1).realize()
    profile_marker("between")
    (a * 3).realize()
  most, words, lines = lines_of(cpu_events + Buffer.profile_events)
  assert lines["NULL"] == 2 and lines["NULL Memory"] == 6 and 200 <= most <= 300
  assert [m["name"] for m in words["markers"]] == ["between"]
  seen = len(cpu_events)
  (a * 5).realize()
  assert len(cpu_events) == seen

def test_a_profile_gives_memory_back_once_nothing_reaches_it():
  cpu_events.clear(), Buffer.profile_events.clear()
  with Context(PROFILE=1):
    a = Tensor.empty(100, device="NULL", dtype=dtypes.char)
    for k in range(4): (a + k + 1).realize()                      # a result lives up to the next realize()
  own = {e.key for e in Buffer.profile_events if e.name == "alloc"}
  assert len(own) == 5 and sum(e.name == "free" and e.key in own for e in Buffer.profile_events) == 3

# Lowering without a device
def test_an_expression_is_lowered_as_it_is_without_a_device():
  x = UOp.variable("x", 0, 100)
  lowered = full_rewrite_to_sink((x * 4 % 7).sink()).src[0]
  assert {u.op for u in lowered.toposort()} & {Ops.MUL, Ops.MOD} == {Ops.MUL, Ops.MOD}
  assert Ops.SHL in {u.op for u in full_rewrite_to_sink((x * 4).sink(), "CPU").toposort()}
  r = UOp.range(4, 0)
  assert full_rewrite_to_sink((r + 1).sink()).src[0].op is Ops.ADD  # a sink of values leaves ranges open
  load = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(4), arg=0).index(r).load(dtype=dtypes.int)
  assert simplify_valid((r < 3) & (load < 2)) is None  # a gate that reads memory stays

# Object files and structures of C
def test_bits_of_a_packed_structure():
  class Head(Struct): _packed_, _fields_ = True, [("kind", ctypes.c_int, 5), ("size", ctypes.c_uint, 30), ("tag", ctypes.c_char), ("last", ctypes.c_int)]
  assert ctypes.sizeof(Head) == 10
  head = Head(-3, 1 << 29, b"x", last=-7)
  assert (head.kind, head.size, head.tag, head.last) == (-3, 1 << 29, b"x", -7)
  head.kind = 15
  assert (head.kind, head.size) == (15, 1 << 29)
  class Flags(Struct): _fields_ = [(c, ctypes.c_bool, 1) for c in "abc"]
  assert bytes(Flags(b=True)) == b"\x02" and Flags(c=True).c is True
  raises(TypeError, lambda: Head(no=1))

def test_object_files_are_linked():
  source = "int something; float powf(float, float); int f(int x) { return something + x; } float g(float x) { return powf(x, x); }"
  with tempfile.NamedTemporaryFile(suffix=".o") as f:
    try: subprocess.run(["clang-19", "-x", "c", "-c", "-O2", "-fPIC", "-ffreestanding", "-", "-o", f.name], input=source.encode(), check=True)
    except FileNotFoundError: return
    with open(f.name, "rb") as made: blob = made.read()
  raises(RuntimeError, lambda: elf_loader(blob), "powf")
  image, sections, relocations = elf_loader(blob, link_libs=["m"])
  assert ".text" in [s.name for s in sections] and relocations and len(image)
  raises(ValueError, lambda: elf_loader(b"no object file"), "ELF")

if __name__ == "__main__": run(globals())
