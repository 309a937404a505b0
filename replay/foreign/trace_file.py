"""Writes a .uoptrace file from Python: rows in the order of events, in the form of docs/guide/trace-format.md.

  trace = Trace("out.uoptrace", "train.py")
  scope = trace.begin_scope("script", "train.py", None, "train.py")
  ...
  trace.finish("complete")

Invariant: nodes are stored once, by content, sources first. The schema is replay/schema/trace.sql of a checkout, or a copy of
it beside this file. tinygrad_trace.py uses it.
"""
import json, os, pathlib, platform, sqlite3, sys, time, zlib

def schema():
  """The tables and views of a trace, from the file in a checkout or from a copy beside this program."""
  here = pathlib.Path(__file__).resolve().parent
  places = [here / "trace.sql", here.parent / "schema" / "trace.sql"]
  found = next((place for place in places if place.is_file()), None)
  if found is None: raise SystemExit(f"tinygrad_trace: no trace.sql: copy replay/schema/trace.sql of uopscope to {here}")
  return found.read_text()

TIME_UNIT = 32  # nanoseconds: the unit of packed_time
APPLICATION, VERSION = 0x554f5053, 8
KNOWN_SETTINGS = ("DEV", "CPU", "CLANG", "LLVM", "CUDA", "NULL", "NOOPT", "BEAM", "TRANSCENDENTAL", "DEVECTORIZE", "SPEC",
                  "DEFAULT_FLOAT", "PCONTIG", "SPLIT_REDUCEOP", "TC", "JIT", "SEED")


def packed(value):
    """(size, packed bytes), in the form that docs/guide/trace-format.md defines."""
    value = value.encode(errors="replace") if isinstance(value, str) else bytes(value)
    small = zlib.compress(value) if len(value) >= 32 else value
    return len(value), small if len(small) < len(value) else value


def leb128(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def text_of_arg(arg):
    """One line that uopscope reads back; an argument without such a form becomes a string."""
    name = type(arg).__name__
    if arg is None: return ""
    if isinstance(arg, bool): return "true" if arg else "false"
    if type(arg) is int: return str(arg) if -2**63 <= arg < 2**63 else ascii(str(arg))
    if isinstance(arg, float): return repr(arg) if arg == arg else "nan(7ff8000000000000)"
    if isinstance(arg, str): return ascii(arg)
    if name in ("InvalidType", "Invalid"): return "Invalid"
    if name == "Ops": return "@" + arg.name
    if name == "KernelInfo":
        opts = lambda some: "[" + ",".join(text_of_opt(o) for o in some) + "]"
        try:
            return "Kernel(%s;%s;%d;%s;%s)" % (ascii(arg.name), ",".join(a.name for a in arg.axis_types), bool(arg.dont_use_locals),
                                               opts(arg.applied_opts), "-" if arg.opts_to_apply is None else opts(arg.opts_to_apply))
        except Exception: return ascii(str(arg))
    if name == "BufferizeOpts":
        device = arg.device if isinstance(arg.device, str) else "" if arg.device is None else str(arg.device)
        return "Bufferize(%s;%s;%d)" % (ascii(device), arg.addrspace.name, bool(arg.removable))
    if name == "Kernel": return ascii("a kernel of " + ", ".join(str(m) for m in arg.metadata))
    if isinstance(arg, tuple):
        ints = lambda some: ",".join(str(i) for i in some)
        plain = lambda some: all(type(i) is int and -2**63 <= i < 2**63 for i in some)
        if plain(arg): return "(" + ints(arg) + ")"
        if all(isinstance(i, bool) for i in arg): return "(" + ints(map(int, arg)) + ")"
        if all(isinstance(i, str) for i in arg): return "{" + ",".join(ascii(i) for i in arg) + "}"
        if type(arg[-1]).__name__ == "AxisType" and plain(arg[:-1]): return "Range(%s;%s)" % (ints(arg[:-1]), arg[-1].name)
        if len(arg) == 2 and type(arg[0]).__name__ == "Ops" and isinstance(arg[1], tuple) and plain(arg[1]):
            return "Reduce(%s;%s)" % (arg[0].name, ints(arg[1]))
        if len(arg) == 3 and isinstance(arg[0], str) and plain(arg[1:]): return "Var(%s;%d;%d)" % (ascii(arg[0]), arg[1], arg[2])
        if all(isinstance(i, tuple) and len(i) == 2 and plain(i) for i in arg):
            return "(" + ints(x for pair in arg for x in pair) + ")"
        if all(isinstance(i, (int, float)) for i in arg): return "Consts(" + ",".join(text_of_arg(i) for i in arg) + ")"
    return ascii(str(arg)[:2000])


def text_of_dtype(dtype):
    """The text of a dtype. The shape of a scalar is a vector without indexes; no value has its type, so it is void."""
    return str(dtype) if getattr(dtype, "count", 1) else "dtypes.void"


def text_of_opt(opt):
    parts = [opt.op.name, "-1" if opt.axis is None else str(opt.axis)]
    parts += [str(a) for a in (opt.arg if isinstance(opt.arg, tuple) else () if opt.arg is None else (opt.arg,))]
    return ":".join(parts)


class Trace:
    """The trace file. It gives ids in the order of events and writes rows in large transactions."""

    def __init__(self, path, script, tier="full"):
        for ending in ("", "-wal", "-shm", "-journal"):
            pathlib.Path(path + ending).unlink(missing_ok=True)
        try:
            self.db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self.db.executescript("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + schema() +
                                  f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};")
        except sqlite3.Error as e: raise SystemExit(f"tinygrad_trace: {path}: cannot be written: {e}")
        self.path, self.start, self.last_commit = path, time.perf_counter_ns(), time.monotonic()
        self.strings, self.files, self.dtypes, self.args, self.kinds, self.ops, self.nodes, self.rules = {}, {}, {}, {}, {}, {}, {}, {}
        self.block, self.count, self.counts = [], 0, {}
        self.steps = self.passes = self.scopes = self.matchers = self.artifacts = 0
        self.origins, self.matcher_ids = set(), {}
        self.shared_rows = {}
        self.forms = {}
        self.db.execute("BEGIN")
        self.meta("status", "recording")
        self.meta("tier", tier)
        self.meta("script", os.path.abspath(script) if script else "")
        self.meta("cwd", os.getcwd())
        self.meta("command", json.dumps(sys.argv))
        self.meta("machine", platform.platform())
        self.meta("env", json.dumps({k: os.environ[k] for k in sorted(KNOWN_SETTINGS) if k in os.environ}))
        self.meta("time.began", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        self.meta("time.pid", str(os.getpid()))
        self.commit()

    def row(self, table, *values):
        self.db.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)

    def meta(self, key, value): self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
    def now(self): return time.perf_counter_ns() - self.start

    def numbered(self, table, known, value, *more):
        if value not in known:
            known[value] = len(known) + 1
            self.row(table, known[value], value, *more)
        return known[value]

    def string(self, text): return self.numbered("string", self.strings, str(text))

    def file(self, path):
        path = str(path)
        if path in self.files: return self.files[path]
        text = None
        if path.endswith(".py"):
            try: text = pathlib.Path(path).read_text()[:1 << 20]
            except (OSError, UnicodeDecodeError): pass
        return self.numbered("file", self.files, path, text)

    def rule(self, location, source, pattern=""):
        key = (str(location[0]), int(location[1]), pattern)
        if key not in self.rules:
            self.rules[key] = len(self.rules) + 1
            name = f"{os.path.basename(key[0])}:{key[1]}"
            self.row("rule", self.rules[key], name, self.file(key[0]), key[1], source, pattern)
        return self.rules[key]

    def node(self, op, dtype, arg, tag, sources):
        """The number of a node whose sources have numbers already."""
        if op not in self.ops:
            self.ops[op] = len(self.ops)
            self.row("op", self.ops[op], op)
        arg, tag = text_of_arg(arg), text_of_arg(tag)
        kind = (self.ops[op], self.numbered("dtype", self.dtypes, text_of_dtype(dtype)), self.numbered("arg", self.args, arg) if arg else None,
                self.numbered("arg", self.args, tag) if tag else None)
        if kind not in self.kinds:
            self.kinds[kind] = len(self.kinds) + 1
            self.row("kind", self.kinds[kind], *kind)
        key = (self.kinds[kind], sources)
        if key not in self.nodes:
            self.count += 1
            self.nodes[key] = self.count
            self.block.append(key)
            if (self.count + 1) % 1024 == 0: self.flush(full=True)
        return self.nodes[key]

    def flush(self, full=False):
        if not self.block: return
        first, kinds, src = self.count - len(self.block) + 1, bytearray(), bytearray()
        used = sorted({kind for kind, _ in self.block})
        place, width = {kind: k for k, kind in enumerate(used)}, 2 if used[-1] < 1 << 16 else 3
        for k, (kind, sources) in enumerate(self.block):
            kinds += place[kind].to_bytes(1 if len(used) <= 256 else 2, "little")
            for j, s in enumerate(sources): src += leb128((first + k - s) * 2 + (j + 1 < len(sources)))
            if not sources: src.append(0)
        self.db.execute("INSERT OR REPLACE INTO node_block VALUES (?, ?, ?, ?, ?, ?)",
                        (first, len(self.block), width, b"".join(kind.to_bytes(width, "little") for kind in used), bytes(kinds), bytes(src)))
        if full: self.block = []

    def commit(self):
        self.flush()
        self.db.execute("COMMIT")
        self.db.execute("BEGIN")
        self.last_commit = time.monotonic()

    def commit_now_and_then(self):
        if time.monotonic() - self.last_commit > 0.2: self.commit()

    def begin_scope(self, kind, name, parent, file=None, line=0, root=None):
        self.scopes += 1
        self.row("scope", self.scopes, parent, kind, self.string(name), self.file(file) if file else None, line, root, self.now(), None)
        return self.scopes

    def end_scope(self, scope, name=None):
        if name: self.db.execute("UPDATE scope SET name = ? WHERE id = ?", (self.string(name), scope))
        self.db.execute("UPDATE scope SET end_ns = ? WHERE id = ?", (self.now(), scope))

    def begin_pass(self, scope, parent, parent_steps, name, location, root, matcher=None, matcher_down=None):
        self.passes += 1
        self.row("pass", self.passes, scope, parent, parent_steps, self.string(name), self.file(location[0]), location[1], root,
                 None, self.steps + 1, None, None, None, None, self.now(), None, matcher, matcher_down)
        return self.passes

    def end_pass(self, number, end_root, own_steps, outcome="done", message=None):
        self.db.execute("UPDATE pass SET end_root = ?, last_step = ?, step_count = ?, outcome = ?, message = ?, end_ns = ? WHERE id = ?",
                        (end_root, self.steps, own_steps, outcome, self.string(message) if message else None, self.now(), number))
        self.commit_now_and_then()

    def step(self, number, rule, before, after, kind, took):
        self.steps += 1
        self.row("step", self.steps, number, rule, before, None if after is None else after - before, kind, int(took))

    def artifact(self, scope, kind, text):
        self.artifacts += 1
        text = text.encode(errors="replace")
        content = b"".join(leb128(4 * self.form(line)) for line in text.decode().split("\n"))
        self.row("text", self.artifacts, scope, self.string(kind), len(text), content, None)

    def form(self, line):
        """A line as it is: without numbers of its own it is a form of one part."""
        if line not in self.forms:
            self.forms[line] = len(self.forms) + 1
            self.row("line_form", self.forms[line], compact([line]))
        return self.forms[line]

    def program(self, scope, nodes):
        if not nodes: return
        differences = [node - last for last, node in zip([0] + nodes, nodes)]
        self.row("program", scope, len(nodes), b"".join(leb128(2 * (-2 * d - 1 if d < 0 else 2 * d)) for d in differences))

    def matcher(self, rules):
        rules = tuple(rules)
        if rules not in self.matcher_ids:
            self.matcher_ids[rules] = len(self.matcher_ids) + 1
            self.row("matcher", self.matcher_ids[rules], compact(rules))
        return self.matcher_ids[rules]

    def count_blocks(self, number, counts):
        """counts: {nested name or 0: {(op, rule): [early, structure, declined, applied, unchanged, ns of failed, ns of applied]}}"""
        all_times, last = bytearray(), 0
        for nested, cells in counts.items():
            groups, times, last_timed = {}, bytearray(), 0
            for index, ((op, rule), values) in enumerate(sorted(cells.items()), 1):
                tried, exceptions = groups.setdefault(op, ([], []))
                exceptions.append([len(tried), *values[:5]])
                tried.append(rule)
                took = [0, int(values[5]) // TIME_UNIT, 0, int(values[6]) // TIME_UNIT, 0]
                if any(took):
                    times += leb128(index - last_timed) + masked(took)
                    last_timed = index
                total = self.counts.setdefault((rule, op), [0] * 7)
                for k, v in enumerate(values): total[k] += v
            name = self.string(nested) if nested else 0
            ids = [self.shared("match_group", op, self.shared("match_tried", compact(tried)), 0, compact(cells)) for op, (tried, cells) in groups.items()]
            self.row("match_pass", number, name, self.shared("match_set", compact(ids)))
            all_times += leb128(number - last) + leb128(name) + leb128(len(times)) + times
            last = number
        if all_times: self.row("packed_time", number, number, *packed(all_times))

    def shared(self, table, *values):
        """The number of a row that is stored once."""
        known = self.shared_rows.setdefault(table, {})
        if values not in known:
            known[values] = len(known) + 1
            self.row(table, known[values], *values)
        return known[values]

    def finish(self, status="complete", message=""):
        for (rule, op), (early, structure, declined, applied, unchanged, failed, took) in sorted(self.counts.items()):
            self.row("match_total", rule, op, early, structure, declined, applied, unchanged, 0, int(failed), 0, int(took), 0)
        self.meta("status", status)
        if message: self.meta("message", message)
        self.meta("steps", str(self.steps))
        self.meta("nodes", str(self.count))
        self.meta("time.took_ns", str(self.now()))
        self.commit()
        self.db.execute("COMMIT")
        for column in ("pass (scope)", "text (scope)", "phase (scope)"):
            self.db.execute(f"CREATE INDEX IF NOT EXISTS {column.split()[0]}_by_scope ON {column}")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.execute("PRAGMA journal_mode = DELETE")
        self.db.close()


def compact(value): return json.dumps(value, separators=(",", ":"))


def masked(values):
    return leb128(sum(1 << k for k, v in enumerate(values) if v)) + b"".join(leb128(v) for v in values if v)
