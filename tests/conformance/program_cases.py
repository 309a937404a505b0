# The programs of tests/conformance/programs: which run, on which data, and which cannot.
#
# A script runs whole, as __main__, with these settings; `limit` cuts its loops over steps. Of a document all blocks of
# Python run, one after the other; its loops of ten turns and more are cut. A model is a module of the reference: `make`
# builds it with weights from the seed, in a size that a CPU runs in seconds, and answers the function that is a step. Data and weights from the network are replaced: random images of the right shapes, weights from the
# initialisers.
from dataclasses import dataclass, field

@dataclass
class Script:
  path: str
  env: dict = field(default_factory=dict)
  limit: int = 8
  result: str = ""  # an expression over the script's globals: numbers to compare besides the losses that it prints

@dataclass
class Document:
  path: str
  limit: int = 8
  result: str = ""

@dataclass
class Model:
  path: str
  make: str
  train: bool = False  # the step trains: forward, backward, optimizer

FORWARD = "step = lambda: model(x)\n"
FILL = "for t in nn.state.get_parameters(model): t.replace((Tensor.randn(*t.shape) * 0.1).realize())\n"  # some begin empty
def train(inputs, loss):
  return f"""
params = nn.state.get_parameters(model)
opt = nn.optim.SGD(params, lr=0.001)
{inputs}
def step():
  with Tensor.train():
    opt.zero_grad()
    loss = {loss}
    loss.backward()
    opt.step()
    return loss
"""

def image(n, size, channels=3): return f"x = Tensor.randn({n}, {channels}, {size}, {size}).realize()\n"
CLASSES = "y = Tensor.arange(2)"

CASES = {
  "bert, forward": Model("extra/models/bert.py", """
from extra.models.bert import BertForPretraining
model = BertForPretraining(128, 512, 128, 2, 2, 2, 1000, 0.0, 0.0)
ids, mask, kinds = Tensor.randint(2, 64, high=1000).realize(), Tensor.ones(2, 64).contiguous().realize(), Tensor.zeros(2, 64, dtype='int').contiguous().realize()
at = Tensor.arange(8).reshape(1, 8).expand(2, 8).contiguous().realize()
step = lambda: model(ids, mask, at, kinds)
"""),
  "bert, training": Model("extra/models/bert.py", """
from extra.models.bert import BertForPretraining
model = BertForPretraining(128, 512, 128, 2, 2, 2, 1000, 0.0, 0.0)
ids, mask, kinds = Tensor.randint(2, 64, high=1000).realize(), Tensor.ones(2, 64).contiguous().realize(), Tensor.zeros(2, 64, dtype='int').contiguous().realize()
at = Tensor.arange(8).reshape(1, 8).expand(2, 8).contiguous().realize()
""" + train("", "sum(o.log_softmax().square().mean() for o in model(ids, mask, at, kinds))"), True),
  "clip text": Model("extra/models/clip.py", """
from extra.models.clip import Closed
model = Closed.ClipEncoder(2)
x, mask = Tensor.randn(1, 32, 768).realize(), Tensor.full((1, 1, 32, 32), float("-inf")).triu(1)
step = lambda: model(x, mask)
"""),
  "clip image": Model("extra/models/clip.py", """
from extra.models.clip import Open
model = Open.ClipVisionTransformer(128, 2, 32, 64, 16)
""" + FILL + image(2, 64) + FORWARD),
  "convnext": Model("extra/models/convnext.py", """
from extra.models.convnext import ConvNeXt
model = ConvNeXt(depths=[1, 1, 2, 1], dims=[32, 64, 96, 128])
""" + image(1, 64) + FORWARD),
  "convnext, training": Model("extra/models/convnext.py", """
from extra.models.convnext import ConvNeXt
model = ConvNeXt(depths=[1, 1, 2, 1], dims=[32, 64, 96, 128])
""" + image(2, 32) + train(CLASSES, "model(x).sparse_categorical_crossentropy(y)"), True),
  "efficientnet": Model("extra/models/efficientnet.py", """
from extra.models.efficientnet import EfficientNet
model = EfficientNet(0, classes=10)
""" + image(1, 64) + "step = lambda: model.forward(x)\n"),
  "efficientnet, training": Model("extra/models/efficientnet.py", """
from extra.models.efficientnet import EfficientNet
model = EfficientNet(0, classes=10)
""" + image(2, 32) + train(CLASSES, "model.forward(x).sparse_categorical_crossentropy(y)"), True),
  "inception": Model("extra/models/inception.py", """
from extra.models.inception import Inception3
model = Inception3(num_classes=10)
""" + image(1, 299) + FORWARD),
  "llama, prompt and tokens": Model("extra/models/llama.py", """
from extra.models.llama import Transformer
model = Transformer(128, 256, 4, 2, 1e-5, 500, n_kv_heads=2, max_context=64)
at = [0]
def step():
  tokens = Tensor([[1, 7, 3, 9]]) if not at[0] else Tensor([[at[0] % 500]])
  out = model(tokens, at[0], float('nan'))
  at[0] += tokens.shape[1]
  return out[:, -1]
"""),
  "llama, training": Model("extra/models/llama.py", """
from extra.models.llama import Transformer
model = Transformer(64, 128, 4, 2, 1e-5, 200, n_kv_heads=2, max_context=32, jit=False, disable_kv_cache=True)
""" + train("t = Tensor.randint(2, 16, high=200).realize()", "model(t, 0, float('nan')).sparse_categorical_crossentropy(t)"), True),
  "mask_rcnn backbone": Model("extra/models/mask_rcnn.py", """
from extra.models.resnet import ResNet
from extra.models.mask_rcnn import ResNetFPN, RPNHead
body, head = ResNetFPN(ResNet(50, num_classes=None, stride_in_1x1=True), out_channels=64), RPNHead(64, 3)
""" + image(1, 64) + "step = lambda: head(body(x)[:4])\n"),
  "resnet18": Model("extra/models/resnet.py", """
from extra.models.resnet import ResNet
model = ResNet(18, num_classes=10)
""" + image(2, 64) + FORWARD),
  "resnet50": Model("extra/models/resnet.py", """
from extra.models.resnet import ResNet
model = ResNet(50, num_classes=1000)
""" + image(1, 64) + FORWARD),
  "resnet18, training": Model("extra/models/resnet.py", """
from extra.models.resnet import ResNet
model = ResNet(18, num_classes=10)
y = Tensor.arange(16) % 10
""" + image(16, 32) + train("", "model(x).sparse_categorical_crossentropy(y)"), True),
  "retinanet": Model("extra/models/retinanet.py", """
from extra.models.resnet import ResNet
from extra.models.retinanet import RetinaNet
model = RetinaNet(ResNet(18, num_classes=None), num_classes=8)
""" + image(1, 64) + FORWARD),
  "rnnt": Model("extra/models/rnnt.py", """
from extra.models.rnnt import RNNT
model = RNNT(input_features=40, vocab_size=29, enc_hidden_size=64, pred_hidden_size=32, joint_hidden_size=64, dropout=0)
from tinygrad.helpers import Context
x, y = Tensor.randn(8, 2, 40).realize(), Tensor.randint(2, 5, high=28).realize()
@Context(JIT=0)
def step(): return model(x, y)
"""),
  "t5 encoder": Model("extra/models/t5.py", """
from extra.models.t5 import T5Config, T5EncoderModel
model = T5EncoderModel(T5Config(d_ff=256, d_kv=32, d_model=128, layer_norm_epsilon=1e-6, num_decoder_layers=2, num_heads=4, num_layers=2,
                                relative_attention_num_buckets=32, relative_attention_max_distance=128, vocab_size=500))
x = Tensor.randint(1, 32, high=500).realize()
""" + FORWARD),
  "transformer": Model("extra/models/transformer.py", """
from extra.models.transformer import Transformer
model = Transformer(10, 6, 2, 128, 4, 32)
x = Tensor.randint(16, 6, high=10).realize()
step = lambda: model.forward(x)
"""),
  "unet": Model("extra/models/unet.py", """
from extra.models.unet import UNetModel
model = UNetModel(None, 4, 4, 32, [2, 1], 1, [1, 2], [1, 1], 64, n_heads=4)
x, t, c = Tensor.randn(1, 4, 16, 16).realize(), Tensor([7.0]), Tensor.randn(1, 8, 64).realize()
step = lambda: model(x, t, c)
"""),
  "unet3d": Model("extra/models/unet3d.py", """
from extra.models.unet3d import UNet3D
model = UNet3D(1, 3)
x = Tensor.randn(1, 1, 32, 32, 32).realize()
""" + FORWARD),
  "vit": Model("extra/models/vit.py", """
from extra.models.vit import ViT
model = ViT(layers=2)
""" + image(1, 224) + "step = lambda: model.forward(x)\n"),

  "gpt2, prompt and tokens": Model("examples/gpt2.py", """
from examples.gpt2 import Transformer, MAX_CONTEXT
from tinygrad import Variable
model = Transformer(dim=128, n_heads=4, n_layers=2, norm_eps=1e-5, vocab_size=500)
at, last = [0], [None]
def step():
  tokens = Tensor([[1, 7, 3, 9]]) if not at[0] else Variable("tokens", 0, 499).bind(last[0])
  out = model(tokens, Variable("start_pos", 1 if at[0] else 0, MAX_CONTEXT-1).bind(at[0]), 0.0)
  at[0] += 4 if not at[0] else 1
  last[0] = int(out.item())
  return out
"""),
  "mamba": Model("examples/mamba.py", """
from examples.mamba import Mamba
model = Mamba(64, 2, 500)
x = Tensor.randint(1, 1, high=500).realize()
""" + FORWARD),
  "mixtral experts": Model("examples/mixtral.py", """
from examples.mixtral import MixtureFeedForward
model = MixtureFeedForward(4, 64, 128)
x = Tensor.randn(1, 1, 64).realize()
""" + FORWARD),
  "olmoe experts": Model("examples/olmoe.py", """
from examples.olmoe import MixtureFeedForward
model = MixtureFeedForward(8, 2, 64, 128)
model.gate.weight = Tensor.randn(8, 64).realize()
for name in ("up_proj", "gate_proj", "down_proj"): setattr(model, name, (Tensor.randn(*getattr(model, name).shape) * 0.1).realize())
x = Tensor.randn(1, 1, 64).realize()
""" + FORWARD),
  "stable diffusion, decoder": Model("examples/stable_diffusion.py", """
from examples.stable_diffusion import Mid
model = Mid(64)
x = Tensor.randn(1, 64, 16, 16).realize()
""" + FORWARD),
  "sdxl, first stage": Model("examples/sdxl.py", """
from examples.sdxl import FirstStage
model = FirstStage.Decoder(ch=32, in_ch=3, out_ch=3, z_ch=4, ch_mult=[1, 2], num_res_blocks=1, resolution=32)
x = Tensor.randn(1, 4, 16, 16).realize()
""" + FORWARD),
  "waifu2x": Model("examples/vgg7_helpers/waifu2x.py", """
from examples.vgg7_helpers.waifu2x import Vgg7
model = Vgg7()
x = Tensor.randn(1, 3, 32, 32).realize()
step = lambda: model.forward(x)
"""),
  "whisper encoder": Model("examples/whisper.py", """
from examples.whisper import AudioEncoder
model = AudioEncoder(80, 100, 64, 2, 2)
x = Tensor.randn(1, 80, 200).realize()
""" + FILL + FORWARD),
  "yolov8": Model("examples/yolov8.py", """
from examples.yolov8 import YOLOv8, get_variant_multiples
depth, width, ratio = get_variant_multiples('n')
model = YOLOv8(width, ratio, depth, num_classes=80)
""" + image(1, 128) + FORWARD),
  "hlb_cifar10 network, training": Model("examples/hlb_cifar10.py", """
from examples.hlb_cifar10 import SpeedyResNet
model = SpeedyResNet(Tensor.randn(12, 3, 2, 2).realize())
""" + image(2, 32) + train(CLASSES, "model(x).sparse_categorical_crossentropy(y)"), True),

  "docs/abstractions3": Script("docs/abstractions3.py", limit=1000, result="[l1.numpy(), l2.numpy()]"),
  "README.md": Document("README.md", result="[loss, model.l1, model.l2]"),
  "docs/quickstart.md": Document("docs/quickstart.md", result="[t6, loss, net.l1.weight, net.l2.weight]"),
  "docs/mnist.md": Document("docs/mnist.md", result="[loss]"),
  "docs/developer/speed.md": Document("docs/developer/speed.md", result="[out1, out2]"),
  "beautiful_mnist": Script("examples/beautiful_mnist.py", {"STEPS": "10", "BS": "64"}),
  "beautiful_mnist, Muon": Script("examples/beautiful_mnist.py", {"STEPS": "6", "BS": "64", "MUON": "1"}),
  "beautiful_mnist_multigpu": Script("examples/beautiful_mnist_multigpu.py", {"STEPS": "6", "BS": "64", "GPUS": "2"}),
  "gradaccum_mnist": Script("examples/gradaccum_mnist.py", {"STEPS": "4", "BS": "64", "ACC_STEPS": "2"}),
  "stunning_mnist": Script("examples/stunning_mnist.py", {"STEPS": "3", "BS": "64"}),
  "minrf": Script("examples/minrf.py", {"STEPS": "5", "BS": "8", "SAMPLE_STEPS": "2"}),
  "transformer (adder)": Script("examples/transformer.py", {}, limit=6),
  "beautiful_cifar": Script("examples/beautiful_cifar.py", {"BS": "32", "STEPS": "3"}, limit=3),
  "train_resnet": Script("examples/train_resnet.py", {}, limit=3),
}

# Differences that are explained, by a part of the program's name.
EXPLAINED = {
  "README.md": "the loss is read after the step: here it is the loss of the weights that it was written with, on the reference of those that the step left",
  "docs/quickstart.md": "the loss is read after the step: here it is the loss of the weights that it was written with, on the reference of those that the step left",
  "vit": "the variance of its first row is 0, so rounding is amplified: held against the same weights in float64 the result is off by 0.4 % of the largest here and by 1.4 % on the reference",
  "minrf": "weight and bias of its Linear(1, 64) are drawn one after the other: here they differ, on the reference both get the same 64 numbers, and every later draw is another",
  "transformer (adder)": "the first loss is the same, and rounding grows with the steps of Adam: losses of the next seven steps are apart by 0.06 at most",
  "train_resnet": "the first three losses are the same to two digits, and rounding grows with the steps: later ones are apart by 0.04 at most",
  "_mnist": "held against PyTorch in float64, the gradients of the first step are off by at most 2e-5 of the largest here and by up to 3e-2 on the reference, and Adam turns a small gradient of either sign into a whole step",
}

# Programs that run on neither side of this machine, with the reason.
LEFT_OUT = {
  "examples/beautiful_cartpole.py": "it needs the package gymnasium",
  "examples/benchmark_onnx.py, test_onnx_imagenet.py, test_pkl_imagenet.py, yolov8-onnx.py": "their models and images are downloaded",
  "examples/compile_efficientnet.py, webgpu, tinychat": "they write programs for a browser, with weights that are downloaded",
  "examples/compile_tensorflow.py": "it needs the package tensorflow",
  "examples/llama.py, llama3.py, qwq.py, mixtral.py, olmoe.py": "their weights are downloaded, gigabytes each; the networks of llama, mixtral and olmoe stand in the table",
  "examples/stable_diffusion.py, sdv2.py, sdxl.py": "their weights are downloaded; parts of the networks stand in the table",
  "examples/mnist_gan.py": "it needs the package torchvision",
  "examples/torch_cuda_kernel.py": "it needs a GPU",
  "examples/yolov3.py": "its configuration and weights are downloaded",
  "examples/mlperf, openpilot, other_mnist, llm.c, tools": "they need data sets, accelerators or programs of others",
}
