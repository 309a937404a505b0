"""Kernels one by one, ours against PyTorch, or NumPy where the other Python has no PyTorch.

kernels.py UOPSCOPE OTHER_PYTHON [rounds] [words of names ...]

Each side is a process of its own with two threads and the same inputs. They take turns, so that noise hits both, and the
fastest burst of each counts. Both keep freed memory (no page faults are measured). With DEV=CUDA the rows are those of
gpu_cases.py, both sides compute on the GPU (PyTorch as a CUDA graph, as our TinyJit does), and a call's time is that of
its burst, divided. UOPSCOPE may be a Python that has the wheel: its path then ends in "python3". Every result is compared with NumPy in
float64: sums of n terms may err by n * eps * (the sum of absolute values), other cases name their bound.
"""
import json, math, os, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_cases import EPS, SMALL, cases, inputs_of, rounded
from gpu_cases import gpu_cases

GPU = os.environ.get("DEV", "CPU").split(":")[0] != "CPU"
rows = gpu_cases if GPU else cases
THREADS = 2
BURST = 0.03  # seconds
PAUSE = 0.1  # seconds before a burst, in which the other side's threads stop waiting for work: they keep a processor busy meanwhile
ROUNDS = 7


# --- a side ---

def ours_of(c, arrays):
    """A call of the computation, and a function that gives its result."""
    from tinygrad import TinyJit
    tensors = inputs_of(c, arrays)
    jitted = TinyJit(lambda *t: c["ours"](*t).realize())
    call = lambda: jitted(*tensors)
    for _ in range(3): call()
    return call, lambda: (call().float() if "dtype" in c else call()).numpy()


def torch_of(c, arrays):
    import torch
    tensors = [torch.from_numpy(a).to(getattr(torch, c["dtype"])) if "dtype" in c else torch.from_numpy(a) for a in arrays]
    tensors = [t.long() if t.dtype == torch.int32 else t for t in tensors]
    call = lambda: c["torch"](*tensors)
    if GPU:
        tensors = [t.cuda() for t in tensors]
        for _ in range(3): call()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph): result = call()
        def call():
            graph.replay()
            return result
    return call, lambda: (call().float() if "dtype" in c else call()).cpu().numpy()


def times_of(kind, call, calls):
    """Seconds of each call; on a GPU, which works behind the caller, the mean of a burst."""
    if not GPU:
        times = []
        for _ in range(calls):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return times
    if kind == "ours":
        from tinygrad import Device
        wait = Device[Device.DEFAULT].synchronize
    else:
        import torch
        wait = torch.cuda.synchronize
    call()
    wait()
    start = time.perf_counter()
    for _ in range(calls): call()
    wait()
    return [(time.perf_counter() - start) / calls]


def serve(answer):
    """Answers each line of JSON that asks for something."""
    for line in sys.stdin: print(json.dumps(answer(json.loads(line))), flush=True)


def worker(kind):
    """Answers lines of JSON, each with a computation and a number of runs: the answer is the fastest burst, or a file with the result."""
    import numpy as np
    table = {c["name"]: c for c in rows()}
    if kind == "torch":
        import torch
        torch.set_num_threads(THREADS)
        torch.set_grad_enabled(False)
    made = {}
    def answer(ask):
        c = table[ask["name"]]
        if ask["name"] not in made:
            made.clear()
            rng = np.random.default_rng(1)
            arrays = [make(rng) for make in c["inputs"]]
            numpy = (lambda: c["numpy"](*arrays)) if c.get("numpy") else None
            made[ask["name"]] = ours_of(c, arrays) if kind == "ours" else torch_of(c, arrays) if kind == "torch" else (numpy, numpy)
        call, get = made[ask["name"]]
        if ask.get("save"):
            if call: np.save(ask["save"], get())
            return {"there": call is not None}
        times = times_of(kind, call, ask["calls"])
        return {"least": min(times), "median": sorted(times)[len(times) // 2]}
    serve(answer)


# --- the table ---

class Side:
    """A process that answers lines of JSON: `script` run as a worker of this kind by `command`."""
    def __init__(self, command, kind, script=__file__):
        environment = dict(os.environ, CPU_COUNT=str(THREADS), OMP_NUM_THREADS=str(THREADS), OPENBLAS_NUM_THREADS=str(THREADS), MKL_NUM_THREADS=str(THREADS),
                           MALLOC_MMAP_THRESHOLD_=str(1 << 32), MALLOC_TRIM_THRESHOLD_=str(1 << 40))
        self.kind = kind
        self.process = subprocess.Popen([*command, os.path.abspath(script), "--worker", kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, **what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line: sys.exit(f"{self.kind} stopped at {what}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def library(python):
    for module in ("torch",) if GPU else ("torch", "numpy"):
        there = "; assert torch.cuda.is_available()" if GPU else ""
        done = subprocess.run([python, "-c", f"import {module}; print({module}.__version__){there}"], capture_output=True, text=True)
        if done.returncode == 0: return module, done.stdout.strip()
    return None, ""


def errorOf(np, c, path):
    """The largest error as a part of its bound; infinite where the shape differs."""
    rng = np.random.default_rng(1)
    arrays = [make(rng) for make in c["inputs"]]
    wide = [(rounded(np, a, c["dtype"]) if "dtype" in c else a).astype("float64") for a in arrays]
    got, right = np.load(path), np.asarray(c["exact"](np, *wide))
    if got.shape != right.shape: return math.inf
    if not c["terms"] and c["bound"] == 0: return 0.0 if np.array_equal(got, right) else math.inf
    bound = c["terms"] * EPS * np.asarray(c["exact"](np, *[abs(a) for a in wide])) if c["terms"] else c["bound"] * np.maximum(1, abs(right))
    if "dtype" in c: bound = bound + abs(right) * SMALL[c["dtype"]]
    return float((abs(got - right) / np.maximum(bound, 1e-300)).max())


def table(uopscope, python, rounds, words):
    import numpy as np
    module, version = library(python)
    ours = Side([uopscope] if os.path.basename(uopscope).startswith("python") else [uopscope, "python"], "ours")
    theirs = Side([python], module) if module else None
    where = os.environ["DEV"] if GPU else "two threads"
    print(f"{where}, {rounds} rounds in turns, the fastest {'burst' if GPU else 'call'}; theirs: {module} {version}" if module else "nothing to compare with")
    print(f"{'':38}{'ours, ms':>10}{'theirs':>10}{'ratio':>8}{'rate':>16}{'error/bound':>13}")
    ratios, wrong = {"table": {}, "more": {}, "small numbers": {}}, []
    with tempfile.TemporaryDirectory() as folder:
        for c in rows():
            if words and not any(w in c["name"] for w in words): continue
            path = os.path.join(folder, "result.npy")
            ours.ask(name=c["name"], save=path)
            error = errorOf(np, c, path)
            if not error <= 1: wrong.append(c["name"])
            sides = [ours] + ([theirs] if theirs and theirs.ask(name=c["name"], save=path)["there"] else [])
            calls = {s: max(1, min(1000, int(BURST / max(1e-6, s.ask(name=c["name"], calls=2)["least"])))) for s in sides}
            best = {s: math.inf for s in sides}
            for _ in range(rounds):
                for s in sides:
                    time.sleep(PAUSE)
                    best[s] = min(best[s], s.ask(name=c["name"], calls=calls[s])["least"])
            mine, other = best[ours], best.get(theirs)
            if other: ratios[c["group"]][c["name"]] = other / mine
            rate = f"{c['flops'] / mine * 1e-9:9.1f} GFLOPS" if c["flops"] else f"{c['bytes'] / mine * 1e-9:9.1f} GB/s  "
            print(f"{c['name']:38}{mine * 1e3:10.3f}" + (f"{other * 1e3:10.3f}{other / mine:8.2f}" if other else f"{'-':>10}{'-':>8}") + f"{rate:>16}{error:13.2g}", flush=True)
    for group, found in ratios.items():
        if not found: continue
        mean, least = math.exp(sum(map(math.log, found.values())) / len(found)), min(found, key=found.get)
        print(f"{group}: {len(found)} kernels, geometric mean {mean:.2f}, least {found[least]:.2f} ({least})")
    ours.close()
    if theirs: theirs.close()
    if wrong: sys.exit(f"beyond the error bound: {', '.join(wrong)}")


def rounds_and_words(arguments, rounds):
    """The number of rounds among arguments, if there is one, and the words."""
    numbers = [int(a) for a in arguments if a.isdigit()]
    return numbers[0] if numbers else rounds, [a for a in arguments if not a.isdigit()]


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        worker(sys.argv[2])
    else:
        table(sys.argv[1], sys.argv[2], *rounds_and_words(sys.argv[3:], ROUNDS))
