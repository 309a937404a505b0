#!/usr/bin/env python3
"""Files with hostile content, passed through every verb of the command line and every pane of the window: valid SQLite traces,
corpora and experiments with rows, values, tables and views that no recorder writes, and texts that nearly have a form that uopscope
reads.

    ninja -C build call_server
    tests/fuzz/hostile_files.py build/call_server --seed 1 --count 1000 --keep found

A file is one that uopscope wrote with one to four changes drawn from a seed: the same seed makes the same file (--only SEED
makes it again, keeps it and passes it through every verb). This program contains no part of the schema: it asks the file for
tables and columns, and finds packed values by zlib's answer. A call fails where it ends by a signal, takes longer
than --seconds of the processor, needs more than two gigabytes, exits with a code above 2, or lets an escape byte through.
Prints a line for each failure and a summary; exit code 1 where a call failed.
"""
import argparse, json, os, random, shutil, sqlite3, subprocess, sys, tempfile, time

from hostile_texts import change_text, text_calls
from hostile_values import texts, value

SCRIPT = """
from tinygrad import Tensor, Variable, Context, dtypes
a, b = Tensor.arange(12).reshape(3, 4).float().realize(), Tensor.ones(4, 2).contiguous().realize()
print((a @ b).softmax().tolist())
for n in (2, 3):
    v = Variable("n", 1, 4).bind(n)
    print(a[:, :v].sum().item())
print((a.cast(dtypes.int) // 5 % 3).tolist(), a.exp().sum(0).relu().tolist())
with Context(NOOPT=1): print((a + 1).sum(1).tolist())
"""
PANES = ["graph", "source", "ir", "asm", "uops", "stats", "script", "links", "compare", "profile", "timeline", "sql"]
VERBS_OF_A_CORPUS = ["source", "ir", "asm", "graph", "story", "launch", "opts", "settings"]


def tables(db):
    return [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]


def quoted(name): return '"' + name.replace('"', '""') + '"'


def change(db, r):
    """Makes one change; a change that SQLite refuses is dropped."""
    table = r.choice(tables(db))
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({quoted(table)})")]
    column, way = r.choice(columns), r.randrange(20)
    name, field = quoted(table), quoted(column)
    if way < 11: # values of some rows, or of all
        rows = db.execute(f"SELECT DISTINCT {field} FROM {name}").fetchall()
        if not rows: return
        for (old,) in r.sample(rows, 1 if r.random() < 0.7 else len(rows))[:300]:
            db.execute(f"UPDATE OR IGNORE {name} SET {field} = ? WHERE {field} IS ?", (value(r, old), old))
    elif way == 11: db.execute(f"DELETE FROM {name}" + r.choice(["", " WHERE rowid % 2", " WHERE rowid > 3"]))
    elif way == 12: db.execute(f"UPDATE OR IGNORE {name} SET {field} = {quoted(r.choice(columns))}")
    elif way == 13:
        rows = db.execute(f"SELECT * FROM {name} LIMIT 20").fetchall()
        for _ in range(r.choice([3, 3000])):
            if rows: db.execute(f"INSERT OR IGNORE INTO {name} ({', '.join(map(quoted, columns))}) VALUES ({','.join('?' * len(columns))})",
                                [value(r, v) if r.random() < 0.3 else v for v in r.choice(rows)])
    elif way == 14: db.execute(f"DROP TABLE {name}")
    elif way == 15: # a view in place of a table: endless, or an error
        db.execute(f"ALTER TABLE {name} RENAME TO hidden_{r.randrange(1000)}")
        body = r.choice(["WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c", "SELECT abs(-9223372036854775808)",
                         "SELECT zeroblob(900000000)", f"SELECT * FROM {name}", "SELECT load_extension('x')"])
        db.execute(f"CREATE VIEW {name} AS {body}")
    elif way == 16: db.execute(f"CREATE TABLE {quoted(texts(r)[:300] or 'x')} (a)")
    elif way == 17: db.execute(f"PRAGMA user_version = {r.choice([0, 1, 2, 3, 4, 5, 6, 7, -1, 2**31 - 1])}")
    elif way == 18 and "scope" in tables(db): # very deep nesting
        db.execute("INSERT OR IGNORE INTO scope (id, parent, kind, name, line, begin_ns) WITH RECURSIVE c(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM c "
                   "WHERE i < ?) SELECT i, CASE WHEN i = 1000 THEN 1 ELSE i - 1 END, 'other', 1, 0, 0 FROM c", (r.choice([1600, 30000]),))
    elif way == 19 and "pass" in tables(db):
        db.execute(r.choice(["UPDATE pass SET parent = id - 1", "UPDATE pass SET parent = id", "UPDATE pass SET first_step = 1", "UPDATE pass SET scope = 1"]))


def change_database(r, base, path):
    shutil.copy(base, path)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA journal_mode = MEMORY")
    db.execute("BEGIN")
    for _ in range(r.randrange(1, 5)):
        try: change(db, r)
        except (sqlite3.Error, OverflowError, UnicodeError, IndexError): pass
    db.execute("COMMIT")
    db.close()


def corpus_calls(r, path, base, out):
    kernel = str(r.randrange(1, 6))
    return [["replay", "ls", path], ["replay", "ls", path, "--json"], ["replay", "diff", base, path], ["replay", "diff", path, base, "--json"], ["replay", "diff", path, path],
            ["replay", "diff", path, base, "-o", out + ".html", "--diffs"], ["replay", "diff", base, path, "-o", out + ".md"], ["story", path, kernel],
            *(["replay", "show", path, kernel, "--what", what] for what in VERBS_OF_A_CORPUS),
            ["replay", "reproduce", path, kernel, "-o", out + ".py"], ["replay", "reproduce", path, kernel, "-o", out + ".cpp"],
            ["replay", "run", path, "-o", out + ".uopcorpus", "--json", "-j", "1"], ["replay", "diff", path, "-j", "1"]]


def bench_calls(r, path, base, out):
    cell = r.choice([[], ["--cell", "NOOPT=1"], ["--cell", "x"]])
    return [["bench", "show", path], ["bench", "show", path, "--json"], ["bench", "show", path, "--html", out + ".html"], ["bench", "compare", path], ["bench", "compare", path, base],
            ["bench", "compare", base, path, "--json"], ["bench", "compare", base, path, "--html", out + ".html"], ["bench", "kernels", path, *cell, "-o", out + ".uopcorpus", "--overwrite"],
            ["bench", "merge", path, "-o", out + ".uopbench", "--overwrite"], ["bench", "merge", base, path, "-o", out + ".uopbench", "--overwrite"]]


def trace_calls(r, path, base, out):
    kernel, number, node = str(r.randrange(1, 12)), str(r.randrange(1, 30)), str(r.choice([1, 5, 50, 200, 2**31 - 1]))
    link = f"kernel={kernel}&pass={number}&step={r.choice([0, 1, 3, 9])}"
    return [["ls", path], ["ls", path, "--json"], ["ls", path, kernel], ["ls", path, kernel, number], ["ls", path, kernel, number, "--json"], ["stats", path], ["stats", path, "--json"],
            *(["stats", path, "--by", by] for by in ("pass", "op", "kernel", "phase", "reason", "launch")), ["stats", path, kernel], ["stats", path, "--diff", base],
            ["show", path, kernel], ["show", path, kernel, "--pass", number], ["show", path, kernel, "--pass", number, "--json"], ["show", path, kernel, "--node", node],
            ["show", path, kernel, "--pass", number, "--step", "1", "--what", "diff"],
            *(["show", path, kernel, "--what", what] for what in ("provenance", "uops", "ir", "asm", "source", "opts", "launch")),
            ["check", path, kernel, "--limit", "3"], ["check", path, kernel, "--pass", number], ["diff", base, path], ["diff", path, base, "--json"], ["compare", path, link], ["compare", path, link, "kernel=1"],
            ["compare", path, link, "--other", base, "--json"], ["why", path, kernel, number, node], ["why", path, kernel, number, node, "add-zero", "--json"], ["story", path, kernel], ["story", path, "-o", out + ".html"],
            ["replay", "ls", path], ["replay", "diff", path, base], ["replay", "show", path, kernel, "--what", "story"],
            *(["export", path, "-o", out + end] for end in (".jsonl", ".trace.json", ".html", ".csv", ".parquet")), ["export", path, "--what", "session", "--megabytes", "1", "-o", out + ".html"],
            ["export", path, kernel, "-o", out + ".json"], ["export", path, kernel, "-o", out + ".dot"], ["export", path, kernel, "--pass", number, "--diff", "-o", out + ".svg"],
            *(["query", path, f"SELECT * FROM {view} LIMIT 50"] for view in ("v_rewrite", "v_node", "v_edge", "v_kernel", "v_pass", "v_match_pass", "v_line", "v_text", "v_decision", "v_alternative", "v_launch_time", "v_arg_part")),
            ["query", path, "SELECT id, expr(id), sources(id) FROM node LIMIT 50"], ["query", path, "SELECT count(*) FROM match_count"], ["query", path, "SELECT * FROM artifact LIMIT 3"]]


def window_calls(r, path, base, out, is_corpus):
    picture = ["--screenshot", out + ".png"]
    if path.endswith(".uopbench"): return [["open", path, *picture], ["bench", "compare", path, *picture], ["bench", "compare", base, path, *picture]]
    if is_corpus: return [["replay", "diff", base, path, *picture]]
    at = f"kernel={r.randrange(1, 12)}&pass={r.randrange(1, 30)}&step={r.choice([0, 1, 3])}"
    return [["open", path, "--at", f"{at}&tab={pane}", *picture] for pane in PANES] + [["open", path, *picture]]


class Server:
    """The program under test in one process that forks for each call."""
    def __init__(self, program, environment, seconds):
        self.program, self.environment, self.seconds, self.process = program, environment, seconds, None

    def call(self, arguments, output):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment, text=True)
        asked = {"arguments": arguments, "output": output, "seconds": self.seconds, "patience": self.seconds * 12, "bytes": 8 << 30}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def wrong(self, arguments, output):
        """The reason why the call counts as failed, or None."""
        got = self.call(arguments, output)
        with open(output, "rb") as f: said = f.read(50_000_000)
        if got["late"] and got["seconds"] <= self.seconds: return f"no answer in {self.seconds * 12:g} s by the clock: {got['seconds']:.1f} s of the processor"
        if got["seconds"] > self.seconds: return f"longer than {self.seconds:g} s: {got['seconds']:.1f} s of the processor"
        if got["signal"]: return f"signal {got['signal']}: {said[-200:].decode(errors='replace')!r}"
        if got["code"] > 2: return f"exit code {got['code']}: {said[-200:].decode(errors='replace')!r}"
        if b"\x1b" in said or b"\xc2\x9b" in said: return "an escape byte"
        if b"terminate called" in said or b"Sanitizer" in said: return f"ended: {said[-300:].decode(errors='replace')!r}"
        return f"memory: {got['kilobytes'] >> 10} MB" if got["kilobytes"] > 2 << 20 else None


def make_bases(server, folder):
    """Writes the base files of one small script; the changes apply to copies of them."""
    def path(name): return os.path.join(folder, name)
    with open(path("base.py"), "w") as f: f.write(SCRIPT)
    shutil.copy(os.path.join(os.path.dirname(__file__), "../../docs/lessons/1-a-plus-b.md"), path("base.md"))
    full = path("base.uoptrace")
    for arguments in (["record", "-q", path("base.py"), "-o", full], ["record", "-q", "--tier", "stats", path("base.py"), "-o", path("stats.uoptrace")],
                      ["replay", "capture", "-q", path("base.py"), "-o", path("base.uopcorpus")], ["export", full, "-o", path("base.jsonl")], ["export", full, "-o", path("base.csv")],
                      ["export", full, "-o", path("base.trace.json")], ["export", full, "3", "-o", path("base.dot")],
                      ["bench", "run", "-q", path("base.py"), "--set", "NOOPT=0,1", "--repeat", "5", "-o", path("base.uopbench")],
                      ["search", "run", "-q", "--trust", path("base.uopcorpus"), "--beam", "1", "-o", path("base.uopsearch")]):
        if (code := server.call(arguments, path("log"))["code"]) > 1: sys.exit(f"{' '.join(arguments)}: exit code {code}: {open(path('log')).read()}")
    return [path("base" + end) for end in (".uoptrace", ".uopcorpus", ".uopbench", ".uopsearch", ".dot", ".jsonl", ".csv", ".trace.json", ".md")] + [path("stats.uoptrace")]


def draw_base(r, bases):
    if len(bases) == 1: return bases[0]
    trace, corpus, bench, *others = bases
    return r.choices([trace, corpus, bench, *others], [50, 20, 10] + [2.5] * (len(others) - 1) + [7.5])[0]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("program", help="call_server")
    a.add_argument("--seed", type=int, default=1), a.add_argument("--count", type=int, default=100), a.add_argument("--only", type=int)
    a.add_argument("--calls", type=int, default=3, help="of a file, drawn from all verbs"), a.add_argument("--seconds", type=float, default=10)
    a.add_argument("--windows", type=float, default=0.03, help="share of files that are opened in the window too")
    a.add_argument("--kind", default="", help="only files with this ending, such as .uopbench")
    a.add_argument("--minutes", type=float, default=1e9), a.add_argument("--keep", help="folder for files that failed")
    o = a.parse_args()
    folder = tempfile.mkdtemp(prefix="uopscope-fuzz-")
    environment = {**os.environ, "HOME": folder, "XDG_RUNTIME_DIR": folder, "QT_QPA_PLATFORM": "offscreen", "NO_COLOR": "1"}
    server = Server(o.program, environment, o.seconds)
    bases = make_bases(server, folder)
    output = os.path.join(folder, "said")
    began, files, made, failures = time.monotonic(), 0, 0, {}
    for seed in [o.only] if o.only is not None else range(o.seed, o.seed + o.count):
        if time.monotonic() - began > 60 * o.minutes: break
        r = random.Random(seed)
        base = draw_base(r, [b for b in bases if b.endswith(o.kind)] if o.kind else bases)
        path = os.path.join(folder, "hostile" + os.path.basename(base)[len(os.path.basename(base).split(".")[0]):])
        out, is_corpus = os.path.join(folder, "out"), base.endswith(".uopcorpus")
        if base.endswith((".uoptrace", ".uopcorpus", ".uopbench")):
            change_database(r, base, path)
            every = (corpus_calls if is_corpus else bench_calls if base.endswith(".uopbench") else trace_calls)(r, path, base, out)
            windows = window_calls(r, path, base, out, is_corpus)
        else:
            change_text(r, base, path)
            every, windows = text_calls(path, folder), []
        files += 1
        if o.only is not None: chosen = every + windows
        else:
            chosen = r.sample(every, min(o.calls, len(every)))
            if windows and r.random() < o.windows: chosen.append(r.choice(windows))
        for arguments in chosen:
            made += 1
            if wrong := server.wrong(arguments, output):
                shown = " ".join(x.replace(path, "FILE").replace(base, "BASE").replace(folder, "") for x in arguments)
                failures.setdefault(wrong.split(":")[0] + " | " + " ".join(shown.split()[:2]), []).append(seed)
                print(f"seed {seed}: {shown}: {wrong}", flush=True)
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    shutil.copy(path, os.path.join(o.keep, f"{seed}-{os.path.basename(path)}"))
        for left in os.listdir(folder):
            if left.startswith(("hostile", "out")): os.remove(os.path.join(folder, left))
        if files % 1000 == 0: print(f"{files} files, {made} calls, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{files} files, {made} calls, {sum(map(len, failures.values()))} failures of {len(failures)} kinds, {time.monotonic() - began:.0f} s, seeds from {o.seed}")
    for kind, seeds in sorted(failures.items()): print(f"  {len(seeds):>5}  {kind}: seeds {seeds[:5]}")
    shutil.rmtree(folder, ignore_errors=True)
    return bool(failures)


if __name__ == "__main__": sys.exit(main())
