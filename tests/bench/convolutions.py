"""Every convolution of 16 networks of torchvision, forward and with gradients, ours against PyTorch: the slowest first.

convolutions.py UOPSCOPE OTHER_PYTHON [rounds] [words of names ...]

The list is not ours: each network is run once on an empty picture, and its layers are noted. BATCH says how many pictures a call has (1). As in
sweep.py each side is a process of its own with two threads, and numbers are compared with PyTorch's in float64: 1 if one is off.
"""
import importlib.util, json, os, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernels import rounds_and_words
from sweep import ROUNDS, main, table_of, worker
from sweep_cases import Operation

NETWORKS = ("alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "googlenet", "inception_v3", "mnasnet0_5", "mobilenet_v2", "mobilenet_v3_small", "regnet_y_400mf",
            "resnet18", "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_5", "squeezenet1_0", "vgg11")
LAYERS = "CONVOLUTIONS"  # the variable that tells the workers of the file of layers


def layers_of(name):
    """The distinct convolutions of a network, as the numbers that make them."""
    import torch, torchvision, warnings
    warnings.simplefilter("ignore")
    side, found = 299 if name == "inception_v3" else 224, {}
    network = getattr(torchvision.models, name)(weights=None).eval()
    def note(layer, inputs, _):
        c, h, w = inputs[0].shape[1:]
        key = json.dumps([c, h, w, layer.out_channels, *layer.kernel_size, *layer.stride, *layer.padding, *layer.dilation, layer.groups])
        found.setdefault(key, name)
    for layer in network.modules():
        if isinstance(layer, torch.nn.Conv2d): layer.register_forward_hook(note)
    with torch.no_grad(): network(torch.zeros(1, 3, side, side))
    return found


def operation(layer, network, pictures):
    c, h, w, filters, kh, kw, sy, sx, py, px, dy, dx, groups = layer
    settings = dict(stride=(sy, sx), padding=(py, px), dilation=(dy, dx), groups=groups)
    name = f"{c}x{h}x{w} by {filters} of {kh}x{kw}" + (f"/{sy}" if sy > 1 else "") + (f" in {groups} groups" if groups > 1 else "") + f" ({network})"
    def theirs(x, weight):
        import torch
        return torch.nn.functional.conv2d(x, weight, None, **settings)
    return Operation(name, [(pictures, c, h, w), (filters, c // groups, kh, kw)], lambda x, weight: x.conv2d(weight, **settings), theirs, 2)


def operations():
    with open(os.environ[LAYERS]) as file: layers = json.load(file)
    return [operation(json.loads(key), network, int(os.environ.get("BATCH", 1))) for key, network in layers.items()]


if __name__ == "__main__":
    if sys.argv[1] == "--worker":
        worker(sys.argv[2], table_of(operations()))
    else:
        if importlib.util.find_spec("torchvision") is None: sys.exit(f"{sys.argv[2]} has no torchvision: KERNELS_PYTHON names one that has it and PyTorch")
        found = {}
        for network in NETWORKS: found = {**layers_of(network), **found}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(found, file), file.flush()
            os.environ[LAYERS] = file.name
            main(sys.argv[1], sys.argv[2], *rounds_and_words(sys.argv[3:], ROUNDS), table_of(operations()), __file__)
