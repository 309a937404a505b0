#!/usr/bin/env python3
"""Writes views of traces as Parquet: one file per view, with the rows of all traces and a column `trace`.

    uopscope export run.uoptrace -o steps.parquet                 the rewrites
    uopscope export traces/ -o parquet/                           all views of all traces of a folder
    python3 trace_parquet.py run1.uoptrace run2.uoptrace -o nodes.parquet --view v_node
    duckdb -c "SELECT trace, rule, count(*) FROM 'parquet/v_rewrite.parquet' GROUP BY ALL"

Needs pyarrow (pip install pyarrow; Debian 12 has no package of it) and nothing of uopscope. Rows are written in portions, so a
trace need not fit into memory. A column gets the type of its values: whole numbers, numbers, else text.
"""
import argparse, json, os, sqlite3, sys

VIEWS = ["v_kernel", "v_pass", "v_rewrite", "v_node", "v_edge", "v_match", "v_match_pass", "v_decision", "v_alternative", "v_launch", "v_launch_time",
         "v_origin", "v_buffer", "v_phase", "v_decline", "v_arg_part", "v_line", "v_text"]
PORTION = 100_000


def opened(path):
    if not os.path.isfile(path): sys.exit(f"trace_parquet: {path}: no such file")
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try: version = (db.execute("PRAGMA application_id").fetchone()[0] == 0x554f5053) and db.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error: sys.exit(f"trace_parquet: {path}: {error}")
    if not version: sys.exit(f"trace_parquet: {path}: not a trace of uopscope")
    if version < 5: sys.exit(f"trace_parquet: {path}: format {version}, whose nodes are packed; record again, or copy it by `uopscope export -o x.jsonl` and `uopscope import`")
    db.text_factory = lambda raw: raw.decode("utf8", "replace")
    return db


def types_of(traces, view, pa):
    """Names and types of a view's columns, over all traces."""
    names, kinds = [], {}
    for db in traces.values():
        names = [column[0] for column in db.execute(f"SELECT * FROM {view} LIMIT 0").description]
        for met in db.execute("SELECT DISTINCT " + ", ".join(f'typeof("{name}")' for name in names) + f" FROM {view}"):
            for name, kind in zip(names, met): kinds.setdefault(name, set()).add(kind)
    def arrow(kind):
        kind = kind - {"null"}
        return pa.int64() if kind == {"integer"} else pa.float64() if kind and kind <= {"integer", "real"} else pa.string()
    return names, [arrow(kinds.get(name, set())) for name in names]


def that_have(traces, view):
    """The traces whose format lets plain SQL read the view: texts, for one, are packed before format 7."""
    out = {}
    for trace, db in traces.items():
        try: db.execute(f"SELECT * FROM {view} LIMIT 1").fetchone()
        except sqlite3.OperationalError as error: print(f"trace_parquet: {trace}: without {view}: {error}", file=sys.stderr)
        else: out[trace] = db
    return out


def write(traces, view, path, pa, pq):
    traces = that_have(traces, view)
    names, types = types_of(traces, view, pa)
    schema = pa.schema([("trace", pa.string())] + list(zip(names, types)))
    made = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as out:
        for trace, db in traces.items():
            rows = db.execute(f"SELECT * FROM {view}")
            while portion := rows.fetchmany(PORTION):
                columns = [[v if v is None or t != pa.string() else str(v) for v in column] for column, t in zip(zip(*portion), types)]
                out.write_table(pa.table([pa.array([trace] * len(portion))] + [pa.array(c, t) for c, t in zip(columns, types)], schema=schema))
                made += len(portion)
    return {"file": path, "rows": made, "bytes": os.path.getsize(path)}


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("traces", nargs="+"), a.add_argument("-o", "--output", required=True, help="FILE.parquet, or a folder for all views")
    a.add_argument("--view", help="with FILE.parquet: the view, v_rewrite if none is named", choices=VIEWS)
    a.add_argument("--json", action="store_true", help="a summary of the written files as JSON")
    o = a.parse_args()
    try: import pyarrow as pa, pyarrow.parquet as pq
    except ImportError as error:
        sys.exit(f"trace_parquet: Parquet needs pyarrow: {error}; pip install pyarrow, in a virtual environment where the system's Python is managed")
    traces = {path: opened(path) for path in o.traces}
    if o.output.endswith(".parquet"):
        made = [write(traces, o.view or "v_rewrite", o.output, pa, pq)]
    elif o.view:
        sys.exit(f"trace_parquet: --view goes with -o FILE.parquet; {o.output} gets all views")
    else:
        os.makedirs(o.output, exist_ok=True)
        made = [write(traces, view, os.path.join(o.output, view + ".parquet"), pa, pq) for view in VIEWS]
    for file in [] if o.json else made: print(f"{file['file']}: {file['rows']:,} rows, {file['bytes']:,} bytes")
    if o.json: print(json.dumps(made, indent=2))


if __name__ == "__main__": main()
