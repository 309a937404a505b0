#!/usr/bin/env python3
"""Records the work of the original tinygrad's compiler in a .uoptrace file, for uopscope's window and command line.

  python tinygrad_trace.py record SCRIPT.py [-o OUT.uoptrace] [-- ARGS]     run a script under the recorder
  python tinygrad_trace.py convert [rewrites.pkl] [-o OUT.uoptrace]         a trace that VIZ=1 or TRACK_MATCH_STATS=2 saved

Needs Python 3.10 with sqlite3, the tinygrad (0.12.0 or newer) it is run beside, trace_file.py beside this file, and the schema:
replay/schema/trace.sql of a checkout, or a copy of it beside the two. It hooks functions of tinygrad while a script runs and
changes no file of it.

The original cannot tell everything. A failed match counts as one whose structure differs, whether its pattern or its
function refused. A saved pickle has no counts, no texts of kernels and no times of passes. `meta` says so under
"foreign". Invariant: rows follow docs/guide/trace-format.md; nodes are stored once, by content, sources first.
"""
import argparse, ast, functools, json, os, pathlib, pickle, runpy, sys, time, weakref
from trace_file import Trace


@functools.cache
def source_of(path, line):
    """The statement that begins on a line of a file, joined to one line."""
    try: lines = pathlib.Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError): return ""
    for end in range(line, min(line + 30, len(lines)) + 1):
        text = "\n".join(lines[line - 1:end]).strip().rstrip(",")
        try: ast.parse(text)
        except SyntaxError: continue
        return " ".join(text.split())
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


class Recorder:
    """Observes a running tinygrad through hooks."""

    def __init__(self, path, script):
        import tinygrad, tinygrad.uop.ops as ops
        self.ops, self.trace = ops, Trace(path, script)
        self.trace.meta("version", "tinygrad " + version_of(tinygrad))
        self.trace.meta("foreign", "recorded by hooks in the original tinygrad: failed matches are not told apart (their pattern "
                                   "and their function refuse alike), lines of kernels and buffers are not known")
        self.known, self.open, self.scope, self.script = weakref.WeakKeyDictionary(), [], [], os.path.abspath(script)
        self.rule_ids, self.matcher_ids, self.made_for = {}, weakref.WeakKeyDictionary(), ()
        self.install()
        self.scope.append(self.trace.begin_scope("script", os.path.basename(script), None, script))

    def node(self, u):
        found = self.known.get(u)
        if found: return found
        stack = [u]
        while stack:
            top = stack[-1]
            missing = [s for s in top.src if s not in self.known] if top not in self.known else []
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if top in self.known: continue
            number = self.trace.node(top.op.name, top.dtype, top.arg, top.tag, tuple(self.known[s] for s in top.src))
            self.known[top] = number
            for m in (top.metadata or ()): self.origin(number, m)
        return self.known[u]

    def origin(self, number, metadata):
        file, line = None, 0
        caller = getattr(metadata, "caller", "") or ""
        for part in caller.replace(" - ", "\n").splitlines():  # "module:line::function" for each frame
            place = part.split("::")[0].rsplit(":", 1)
            if len(place) == 2 and place[1].isdigit():
                module = getattr(sys.modules.get(place[0]), "__file__", None) or place[0]
                file, line = self.script if place[0] == "__main__" else module, int(place[1])
        key = (number, str(metadata), file, line)
        if key in self.trace.origins: return
        self.trace.origins.add(key)
        self.trace.db.execute("INSERT INTO origin (id, node, operation, file, line) VALUES (?, ?, ?, ?, ?)",
                              (len(self.trace.origins), number, self.trace.string(str(metadata)), self.trace.file(file) if file else None, line))

    def rule(self, pattern):
        found = self.rule_ids.get(pattern)
        if found is None:
            location = getattr(pattern, "location", ("?", 0))
            found = self.rule_ids[pattern] = self.trace.rule(location, source_of(location[0], location[1]), str(pattern)[:500])
        return found

    def matcher(self, matcher):
        if matcher is None: return None
        if matcher not in self.matcher_ids:
            self.matcher_ids[matcher] = self.trace.matcher(self.rule(p[0]) for p in matcher.patterns)
        return self.matcher_ids[matcher]

    def install(self):
        ops = self.ops
        for name in ("graph_rewrite", "graph_rewrite_map"):
            self.replace(getattr(ops, name), lambda function, name=name: self.observed_pass(function, name))
        for module in [m for n, m in list(sys.modules.items()) if n.startswith("tinygrad") and m]:
            for function in list(vars(module).values()):
                if getattr(function, "__qualname__", "").startswith("track_rewrites.<locals>"):
                    if not hasattr(function, "_uoptrace"): self.replace(function, self.observed_scope)
        ops.PatternMatcher.rewrite = self.observed_rewrite(ops.BottomUpGate)
        try:
            from tinygrad.engine.realize import ExecItem
            ExecItem.run = self.observed_run(ExecItem.run)
            ExecItem.lower = self.observed_lower(ExecItem.lower)
        except ImportError: pass  # newer versions may run kernels elsewhere

    @staticmethod
    def replace(function, wrap):
        """Replaces a function under every name it was imported as."""
        wrapped = wrap(function)
        wrapped._uoptrace = True
        for module in [m for n, m in list(sys.modules.items()) if n.startswith("tinygrad") and m]:
            for name, value in list(vars(module).items()):
                if value is function: setattr(module, name, wrapped)

    def observed_scope(self, function):
        inner = function.__closure__ and next((c.cell_contents for c in function.__closure__
                                               if callable(c.cell_contents) and hasattr(c.cell_contents, "__code__")
                                               and c.cell_contents.__code__.co_filename != self.ops.__file__), None)
        kernel = "program" in getattr(inner, "__name__", "") or "codegen" in getattr(inner, "__module__", "")

        def observed(*args, **kwargs):
            trace, line = self.trace, script_line(self.script)
            root = self.node(args[0]) if args and isinstance(args[0], self.ops.UOp) else None
            if kernel and root: self.kernel_origins(args[0])
            number = trace.scopes
            scope = trace.begin_scope("kernel" if kernel else "schedule", "kernel" if kernel else f"schedule {number}",
                                      self.scope[-1] if self.scope else None, self.script if line else None, line, root)
            self.scope.append(scope)
            open_passes, self.open = self.open, []
            name = None
            try:
                ret = function(*args, **kwargs)
                if kernel and hasattr(ret, "src"):
                    name = ret.name
                    self.kernel(scope, ret)
                return ret
            finally:
                self.open = open_passes
                self.scope.pop()
                trace.end_scope(scope, plain(name) if name else None)
                trace.commit_now_and_then()
        return observed

    def observed_lower(self, function):
        """Remembers the operations a kernel serves: the original keeps them beside its graph, not in it."""
        @functools.wraps(function)
        def observed(item, *args, **kwargs):
            before, self.made_for = self.made_for, tuple(getattr(item, "metadata", None) or ())
            try: return function(item, *args, **kwargs)
            finally: self.made_for = before
        return observed

    def kernel_origins(self, ast):
        if not self.made_for: return
        for u in ast.toposort():
            if u.op.name == "STORE" and len(u.src) > 1:
                for node in (u, u.src[1]):
                    for m in self.made_for: self.origin(self.node(node), m)

    def kernel(self, scope, program):
        trace = self.trace
        if program.src: trace.artifact(scope, "source", program.src)
        estimates = getattr(program, "estimates", None)
        number = lambda x: x if x is None or isinstance(x, int) else str(x)
        sizes = [json.dumps([number(x) for x in some or []]) for some in (program.global_size, program.local_size)]
        opts = getattr(program, "applied_opts", None) or ()
        trace.row("kernel", scope, program.device, json.dumps([str(o) for o in opts]), *sizes,
                  *(number(getattr(estimates, k, None)) if estimates else None for k in ("ops", "mem", "lds")), None)
        trace.program(scope, [self.node(u) for u in program.uops or ()])

    def observed_pass(self, function, default_name):
        def observed(sink, pm, ctx=None, bottom_up=False, name=None, bpm=None, **more):
            trace, parent = self.trace, self.open[-1] if self.open else None
            frame = sys._getframe(1)
            up, down = (None, pm) if bottom_up else (pm, bpm)
            number = trace.begin_pass(self.scope[-1] if self.scope else None, parent and parent["id"], parent["steps"] if parent else 0,
                                      name or default_name, (frame.f_code.co_filename, frame.f_lineno), self.node(sink),
                                      self.matcher(up), self.matcher(down))
            this = {"id": number, "steps": 0, "down": down, "name": name or default_name, "counts": {}}
            self.open.append(this)
            try: ret = function(sink, pm, ctx=ctx, bottom_up=bottom_up, name=name, bpm=bpm, **more)
            except BaseException as e:
                self.close(this, None, "failed", f"{type(e).__name__}: {e}")
                raise
            result = ret if isinstance(ret, self.ops.UOp) else ret.get(sink) if isinstance(ret, dict) else None
            self.close(this, self.node(result) if result is not None else None, "done", None)
            return ret
        return observed

    def close(self, this, end_root, outcome, message):
        self.open.remove(this)
        self.trace.end_pass(this["id"], end_root, this["steps"], outcome, message)
        outer = self.open[0] if self.open else None
        if outer:
            for nested, cells in this["counts"].items():
                sums = outer["counts"].setdefault(nested or this["name"], {})
                for key, values in cells.items():
                    into = sums.setdefault(key, [0] * 7)
                    for k, v in enumerate(values): into[k] += v
        else: self.trace.count_blocks(this["id"], this["counts"])

    def observed_rewrite(self, gate):
        recorder = self

        def rewrite(matcher, uop, ctx=None):
            candidates = matcher.pdict.get(uop.op, ())
            if not candidates: return None
            here = recorder.open[-1] if recorder.open else None
            cells = here["counts"].setdefault(0, {}) if here else {}
            op, present = None, {s.op for s in uop.src}
            trace = recorder.trace
            for pattern, match, required in candidates:
                if op is None:
                    if uop.op.name not in trace.ops: recorder.node(uop)
                    op = trace.ops[uop.op.name]
                rule = recorder.rule(pattern)
                cell = cells.get((op, rule))
                if cell is None: cell = cells[(op, rule)] = [0] * 7
                if not required <= present:
                    cell[0] += 1
                    continue
                began = time.perf_counter_ns()
                try: result = match(uop, ctx)
                except gate:
                    if here: trace.db.execute("INSERT OR IGNORE INTO gate VALUES (?, ?, ?)", (here["id"], recorder.node(uop), trace.steps + 1))
                    raise
                except Exception as e:
                    if here:
                        here["steps"] += 1
                        trace.step(here["id"], rule, recorder.node(uop), None, 2, 0)
                        trace.row("step_error", trace.steps, str(e))
                    raise
                took = time.perf_counter_ns() - began
                if result is None:
                    cell[1] += 1
                    cell[5] += took
                elif result is uop:
                    cell[4] += 1
                    if here: trace.db.execute("INSERT OR IGNORE INTO unchanged VALUES (?, ?, ?, ?)",
                                              (here["id"], rule, recorder.node(uop), trace.steps + 1))
                else:
                    cell[3] += 1
                    cell[6] += took
                    if here and isinstance(result, recorder.ops.UOp):
                        here["steps"] += 1
                        trace.step(here["id"], rule, recorder.node(uop), recorder.node(result), int(matcher is here["down"]), took)
                    return result
            return None
        return rewrite

    def observed_run(self, function):
        def run(item, *args, **kwargs):
            began = self.trace.now()
            took = function(item, *args, **kwargs)
            runner = item.prg
            estimates = getattr(runner, "estimates", None)
            flops, size = getattr(estimates, "ops", 0), getattr(estimates, "mem", 0)
            self.trace.db.execute(
                "INSERT INTO launch (scope, kernel, device, flops, bytes, begin_ns, took_ns, buffers) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (self.scope[-1] if self.scope else None, self.trace.string(plain(getattr(runner, "display_name", "?"))),
                 self.trace.string(getattr(runner, "device", "?")), flops if isinstance(flops, int) else 0,
                 size if isinstance(size, int) else 0, began, int((took or 0) * 1e9), "[]"))
            self.trace.commit_now_and_then()
            return took
        return run

    def finish(self, status, message=""):
        try:  # at exit no caller is left, yet the original would ask for its line
            from tinygrad.helpers import TRACEMETA
            TRACEMETA.value = 0
        except (ImportError, AttributeError): pass
        for scope in reversed(self.scope): self.trace.end_scope(scope)
        self.scope = []
        self.trace.finish(status, message)


def plain(name):
    """The name without the colours of a terminal."""
    out, inside = "", False
    for c in str(name):
        if c == "\x1b": inside = True
        elif inside: inside = c != "m"
        else: out += c
    return out


def script_line(script):
    frame = sys._getframe(1)
    while frame:
        if frame.f_code.co_filename == script: return frame.f_lineno
        frame = frame.f_back
    return 0


def version_of(tinygrad):
    try:
        from importlib.metadata import version
        return version("tinygrad")
    except Exception: return getattr(tinygrad, "__version__", "unknown")


def record(script, output, arguments):
    if not os.path.isfile(script): raise SystemExit(f"tinygrad_trace: {script}: no such script")
    os.environ.setdefault("TRACEMETA", "2")  # adds script lines to operations; tinygrad reads it when it is imported
    try: import tinygrad  # noqa: F401
    except ImportError as e: raise SystemExit(f"tinygrad_trace: {e}; run this file with the Python that has tinygrad")
    output = output or pathlib.Path(script).stem + ".uoptrace"
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    recorder = Recorder(output, os.path.abspath(script))
    sys.argv = [script, *arguments]
    status, message, code = "complete", "", 0
    try: runpy.run_path(os.path.abspath(script), run_name="__main__")
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
        if code: status, message = "failed", f"the script ended with exit code {code}"
    except KeyboardInterrupt: status, message, code = "interrupted", "stopped by the user", 130
    except BaseException as e:
        import traceback
        traceback.print_exc()
        status, message, code = "failed", f"{type(e).__name__}: {e}", 1
    trace = recorder.trace
    recorder.finish(status, message)
    print(f"tinygrad_trace: {output}: {trace.steps} steps, {trace.count} nodes; uopscope open {output}", file=sys.stderr)
    return code


def convert(path, output):
    """Converts a RewriteTrace as tinygrad saves it. Unpickling runs code of the file: convert only your own files."""
    if path is None:
        from tinygrad.helpers import temp
        path = temp("rewrites.pkl", append_user=True)
    try:
        with open(path, "rb") as f: saved = pickle.load(f)
    except OSError as e: raise SystemExit(f"tinygrad_trace: {path}: {e.strerror}; run a script with TRACK_MATCH_STATS=2 first")
    except ImportError as e: raise SystemExit(f"tinygrad_trace: {path}: {e}; convert it in the Python that has the tinygrad which saved it")
    except Exception as e: raise SystemExit(f"tinygrad_trace: {path}: not a pickle that can be read ({e})")
    if not all(hasattr(saved, a) for a in ("keys", "rewrites", "uop_fields")):
        raise SystemExit(f"tinygrad_trace: {path}: not a trace that tinygrad saved")
    import tinygrad
    output = output or "rewrites.uoptrace"
    trace, known = Trace(output, ""), {}
    trace.meta("version", "tinygrad " + version_of(tinygrad))
    trace.meta("foreign", "converted from a pickle of the original tinygrad: counts of attempts, ends and times of passes, gates, "
                          "launches and lines of the script are not in it")

    def node(number):
        stack = [number]
        while stack:
            top = stack[-1]
            if top in known:
                stack.pop()
                continue
            op, dtype, sources, arg, tag, *_ = saved.uop_fields[top]
            missing = [s for s in sources if s not in known]
            if missing: stack.extend(reversed(missing))
            else: known[top] = trace.node(op.name, dtype, arg, tag, tuple(known[s] for s in sources))
        return known[number]

    for key, rewrites in zip(saved.keys, saved.rewrites):
        program = key.ret if hasattr(key.ret, "src") and hasattr(key.ret, "device") else None
        scope = trace.begin_scope("kernel" if program else "schedule", plain(key.display_name), None, root=node(rewrites[0].sink) if rewrites else None)
        if program:
            trace.artifact(scope, "source", program.src)
        open_passes, own = [], {}
        for rewrite in rewrites:
            while len(open_passes) > rewrite.depth: trace.end_pass(number := open_passes.pop(), None, own[number])
            # The pickle does not say at which step of its parent a pass began.
            parent = open_passes[-1] if open_passes else None
            number = trace.begin_pass(scope, parent, own.get(parent, 0), rewrite.name, rewrite.loc, node(rewrite.sink))
            open_passes.append(number)
            own[number] = len(rewrite.matches)
            for before, after, location, seconds in rewrite.matches:
                failed = saved.uop_fields[after][0].name == "REWRITE_ERROR"
                trace.step(number, trace.rule(location, source_of(location[0], location[1])), node(before),
                           None if failed else node(after), 2 if failed else int(rewrite.bottom_up), seconds * 1e9)
                if failed: trace.row("step_error", trace.steps, str(saved.uop_fields[after][3]))
        while open_passes: trace.end_pass(number := open_passes.pop(), None, own[number])
        trace.end_scope(scope)
    trace.finish()
    print(f"tinygrad_trace: {output}: {trace.steps} steps, {trace.count} nodes; uopscope open {output}", file=sys.stderr)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="tinygrad_trace.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("record", help="run a script under the recorder")
    one.add_argument("script")
    one.add_argument("-o", "--output")
    one.add_argument("arguments", nargs="*", help="of the script, after --")
    two = verbs.add_parser("convert", help="convert a saved rewrites.pkl")
    two.add_argument("pickle", nargs="?", help="default: where tinygrad saves it")
    two.add_argument("-o", "--output")
    options = parser.parse_args()
    if options.verb == "record": return record(options.script, options.output, options.arguments)
    return convert(options.pickle, options.output)


if __name__ == "__main__":
    sys.exit(main())
