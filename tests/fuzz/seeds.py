#!/usr/bin/env python3
"""Writes inputs for a target of libFuzzer to begin with: what uopscope itself writes about small scripts.

    tests/fuzz/seeds.py build/bin/uopscope parse build-libfuzzer/corpus/parse

`parse` gets graphs, `corpus` the packed blocks of a corpus behind the bytes by which corpus_target.cpp chooses the decoder,
`import` a timeline and tables. `rewrite` begins with nothing: any bytes are an expression.
"""
import os, sqlite3, subprocess, sys, tempfile

VALUES = ["(Tensor.ones(3, 4).contiguous() @ Tensor.ones(4, 2).contiguous()).softmax()", "Tensor.arange(12).reshape(3, 4).sum(0)",
          "(Tensor.rand(7).cast(dtypes.half).exp() + 1)"]
BEGIN = "from tinygrad import Tensor, dtypes\nfrom tinygrad.uop.ops import pyrender\n"


def main(program, target, folder):
  os.makedirs(folder, exist_ok=True)
  number = 0

  def keep(data):
    nonlocal number
    number += 1
    with open(os.path.join(folder, f"seed-{number}"), "wb") as f: f.write(data)

  def say(*arguments): return subprocess.run([program, *arguments], check=True, capture_output=True).stdout

  with tempfile.TemporaryDirectory() as work:
    for k, text in enumerate(VALUES):
      script, corpus, trace = (os.path.join(work, f"{k}{end}") for end in (".py", ".uopcorpus", ".uoptrace"))
      with open(script, "w") as f: f.write(f"{BEGIN}({text}).realize()\n")
      say("replay", "capture", "-q", script, "-o", corpus)
      db = sqlite3.connect(corpus)
      if target == "parse":
        code = f"{BEGIN}for item in ({text}).schedule(): print(pyrender(item.ast), end='\\0')"
        for graph in say("python", "-c", code).split(b"\0")[:-1]: keep(graph)
        for (kernel,) in db.execute("SELECT id FROM compilation"): keep(say("replay", "show", corpus, str(kernel), "--what", "graph"))
      elif target == "corpus":
        for size, data, form in db.execute("SELECT raw_size, data, form FROM block WHERE form > 0 AND raw_size < 65536"):
          keep(bytes([form + 1]) + size.to_bytes(3, "big") + data)
      elif target == "import":
        say("record", "-q", script, "-o", trace)
        for name, choice, *place in (("t.trace.json", 1), ("stats.csv", 4), ("steps.csv", 2, "3", "--pass", "1")):
          made = os.path.join(work, name)
          say("export", trace, *place, "-o", made)
          with open(made, "rb") as f: keep(bytes([choice]) + f.read())
  print(f"{number} inputs in {folder}")


if __name__ == "__main__": main(*sys.argv[1:4])
