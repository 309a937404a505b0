# docs/guide/python-names.md is what names.py makes now, and what it says of a name is so.
import pathlib
from tinygrad import Tensor
from check import raises, run
import names

ROOT = pathlib.Path(__file__).resolve().parents[3]
COMMAND = "build/bin/uopscope run tests/engine/python/names.py docs/guide/python-names.md"

def test_the_table_is_up_to_date():
  written, now = (ROOT / "docs" / "guide" / "python-names.md").read_text().splitlines(), names.table().splitlines()
  differing = [f"{a}   ->   {b}" for a, b in zip(written, now) if a != b][:5]
  assert written == now, f"write it anew with `{COMMAND}`; first differences: {differing or (len(written), len(now))}"

def test_every_note_is_of_a_name():
  known = {f"{h.split(',')[0] if 'dtype' not in h else 'tinygrad.dtypes'}.{n}" for h, n, _, _ in names.rows()}
  assert not (set(names.DIFFERS) | set(names.UNSUPPORTED)) - known

def test_what_is_not_supported_says_so():
  for name in names.UNSUPPORTED:
    f = getattr(Tensor.ones(2), name.rsplit(".", 1)[1], None)
    if f is not None: raises(NotImplementedError, lambda: f(1), "not supported")

if __name__ == "__main__": run(globals())
