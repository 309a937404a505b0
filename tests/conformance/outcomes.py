# A plugin of pytest that writes the outcome of each test at once, so that a crash or a time limit loses nothing.
#
#   CONFORMANCE_OUT=out.jsonl CONFORMANCE_SKIP=skip.txt pytest -p outcomes FILE
#
# A line ["start", test], then ["passed" | "failed" | "skipped", test, why]. Tests named in CONFORMANCE_SKIP are left out,
# since they ended the process before.
import json, os

_out = open(os.environ["CONFORMANCE_OUT"], "a", buffering=1)
_skip = set(open(os.environ["CONFORMANCE_SKIP"]).read().splitlines()) if os.path.exists(os.environ.get("CONFORMANCE_SKIP", "")) else set()
def _tell(*fields): _out.write(json.dumps(fields) + "\n")

def pytest_collection_modifyitems(items): items[:] = [item for item in items if item.nodeid not in _skip]
def pytest_runtest_logstart(nodeid): _tell("start", nodeid)
def _why(report):
  crash = getattr(report.longrepr, "reprcrash", None)
  text = crash.message if crash else str(report.longrepr)
  return text.strip()[:400]
def pytest_runtest_logreport(report):
  if report.when == "call" or report.outcome != "passed": _tell("skipped" if hasattr(report, "wasxfail") and report.outcome != "passed" else report.outcome, report.nodeid, _why(report) if report.failed else "")
def pytest_collectreport(report):
  if report.failed: _tell("uncollected", report.nodeid, str(report.longrepr).strip().splitlines()[-1][:400])
