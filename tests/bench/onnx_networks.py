"""Networks as ONNX files, ours and onnxruntime's in turns: `tests/bench/run onnx [word ...]`, those whose name has a word.

Needs torch, torchvision, onnx, onnxscript and onnxruntime in the Python that is active ($VIRTUAL_ENV). PyTorch's exporter writes
each network, with random weights, into a folder of its own. Prints the fastest of nine calls of either side with two threads, the
ratio (above 1: ours is faster) and the largest difference as a part of the largest number; and the geometric mean.
"""
import os, statistics, sys, tempfile, time, warnings
os.environ.setdefault("CPU_COUNT", "2")
import numpy as np
import onnxruntime, torch, torchvision
from tinygrad import Tensor, TinyJit
from tinygrad.nn.onnx import OnnxRunner

NETWORKS = ("resnet18", "mobilenet_v3_small", "efficientnet_b0", "squeezenet1_0", "shufflenet_v2_x0_5", "densenet121", "vit_b_16", "swin_t", "convnext_tiny", "regnet_y_400mf",
            "inception_v3", "mnasnet0_5", "googlenet")


def exported(name, folder):
    """The path of a network's file, and a picture for it."""
    torch.manual_seed(0)
    side = 299 if name == "inception_v3" else 224
    network, picture, path = getattr(torchvision.models, name)(weights=None).eval(), torch.randn(1, 3, side, side), os.path.join(folder, f"{name}.onnx")
    torch.onnx.export(network, (picture,), path, dynamo=False)
    return path, picture.numpy()


def fastest(call):
    times = []
    for _ in range(9):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def measured(path, picture):
    """(ours, theirs, largest difference) in milliseconds."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 2
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    runner, x = OnnxRunner(path), Tensor(picture).realize()
    ours = TinyJit(lambda x: next(iter(runner({name: x}).values())).realize())
    theirs = lambda: session.run(None, {name: picture})[0]
    for _ in range(3): got = ours(x)
    want = theirs()
    difference = np.abs(got.numpy() - want).max() / max(np.abs(want).max(), 1e-30)  # a network that ends in zeros says zeros
    return fastest(lambda: ours(x).numpy()), fastest(theirs), difference


def main():
    warnings.filterwarnings("ignore")
    ratios = []
    print(f"{'':24}{'ours, ms':>10}{'theirs':>10}{'ratio':>8}{'difference':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for name in NETWORKS:
            if sys.argv[1:] and not any(word in name for word in sys.argv[1:]): continue
            ours, theirs, difference = measured(*exported(name, folder))
            ratios.append(theirs / ours)
            print(f"{name:24}{ours:10.2f}{theirs:10.2f}{ratios[-1]:8.2f}{difference:12.1e}", flush=True)
    print(f"geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}; theirs: onnxruntime {onnxruntime.__version__}")


main()
