# What app/run and tests/run share: find the sources, install missing Debian packages, configure, build.
# Sourced by bash; sets `root` (the checkout) and `build` (the build folder, UOPSCOPE_BUILD to choose another).

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${UOPSCOPE_BUILD:-$root/build}

# One package a line: what is needed to build, run and test everything.
packages="
cmake ninja-build g++ ccache mold git
libsqlite3-dev sqlite3 zlib1g-dev libzstd-dev liblzma-dev libmimalloc-dev nlohmann-json3-dev libcli11-dev libfmt-dev doctest-dev libbenchmark-dev
llvm-19-dev clang-19 lld-19 libz3-dev
python3-dev pybind11-dev python3-numpy python3-pytest
qt6-base-dev qt6-declarative-dev qt6-svg-dev libgl-dev
qml6-module-qtquick qml6-module-qtquick-controls qml6-module-qtquick-layouts qml6-module-qtquick-window
qml6-module-qtquick-templates qml6-module-qtqml qml6-module-qtqml-workerscript qml6-module-qtqml-models
qml6-module-qttest qml6-module-qtquick-dialogs qml6-module-qt-labs-platform qml6-module-qt-labs-settings
qml6-module-qt-labs-folderlistmodel
libgraphviz-dev graphviz fonts-dejavu-core xvfb bubblewrap
ocl-icd-libopencl1 pocl-opencl-icd
"

install_missing() {
  command -v dpkg-query >/dev/null || return 0 # not Debian: CMake says what it misses
  local have missing="" package
  have=" $(dpkg-query -W -f='${db:Status-Abbrev}${Package} ' 2>/dev/null | grep -o 'ii [^ ]*' | cut -c4- | tr '\n' ' ') "
  for package in $packages "$@"; do
    case $have in *" $package "*) ;; *) missing="$missing $package" ;; esac
  done
  [ -n "$missing" ] || return 0
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  echo "uopscope: installing$missing" >&2
  { $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing; } >"${TMPDIR:-/tmp}/uopscope-apt.log" 2>&1 || {
    tail -n 5 "${TMPDIR:-/tmp}/uopscope-apt.log" >&2
    echo "uopscope: could not install:$missing. Install them by hand and run this again." >&2
    exit 2
  }
}

# What runs kernels of WebGPU without a GPU: lavapipe, a driver of Vulkan for the CPU, and wgpu-native, which a package of
# Python carries. Tests say what is missing and go on, so this never fails. Sets WEBGPU_LIB.
install_webgpu() {
  local wheel=wgpu==0.32.0 sudo=""
  [ -z "${WEBGPU_LIB:-}" ] || return 0
  [ "$(id -u)" = 0 ] || sudo="sudo -n"
  if command -v dpkg-query >/dev/null && ! dpkg-query -W -f='${Status}' mesa-vulkan-drivers 2>/dev/null | grep -q "ok installed"; then
    { $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends mesa-vulkan-drivers python3-pip; } >"${TMPDIR:-/tmp}/uopscope-apt.log" 2>&1 || true
  fi
  local library=$build/wgpu/wgpu/resources/libwgpu_native-release.so
  [ -f "$library" ] || python3 -m pip install -q --disable-pip-version-check --no-deps --target "$build/wgpu" "$wheel" >"$build/wgpu.log" 2>&1 || true
  if [ -f "$library" ]; then
    export WEBGPU_LIB=$library
  else
    echo "uopscope: tests of WebGPU are left out: $wheel cannot be installed" >&2
  fi
}

# True where something the build reads is newer than the last finished build.
needs_build() {
  [ -x "$build/bin/uopscope" ] && [ -f "$build/.built" ] || return 0
  [ -n "$(find "$root/engine" "$root/replay" "$root/viz" "$root/app" "$root/samples" "$root/CMakeLists.txt" "$root/.cmake" -newer "$build/.built" \( -type f -o -type d \) -not -name '*.py[co]' -not -name __pycache__ -print -quit 2>/dev/null)" ]
}

configure() {
  mkdir -p "$build"
  if [ ! -f "$build/build.ninja" ]; then
    cmake -S "$root" -B "$build" -G Ninja "$@" >"$build/configure.log" 2>&1 || { cat "$build/configure.log" >&2; exit 2; }
    grep "uopscope: without" "$build/configure.log" >&2 || true
  fi
}

# compile TARGET...: quiet when all is well, the compiler's words when not.
compile() {
  local started=$SECONDS
  if [ -t 2 ]; then
    ninja -C "$build" "$@" >&2 || { echo "uopscope: the build failed" >&2; exit 2; }
  else
    ninja -C "$build" "$@" >"$build/build.log" 2>&1 || { grep -vE '^\[[0-9]+/[0-9]+\]' "$build/build.log" | tail -n 60 >&2; echo "uopscope: the build failed, all of it in $build/build.log" >&2; exit 2; }
  fi
  [ $((SECONDS - started)) -lt 5 ] || echo "uopscope: built in $((SECONDS - started)) s" >&2
}
