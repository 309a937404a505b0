# A clean Debian 12 to try packages in, for tests/package and tests/wheel. Sourced by bash after build.sh; needs root and the
# network. enter_clean_root FOLDER makes the system in FOLDER, or takes the one that is there; an empty name makes a temporary
# one, which goes at the end. Sets `clean` and `failed`.
#
#   enter_clean_root "${1:-}"; inside apt-get install -y python3; expect=3 try "the version" python3 --version

enter_clean_root() {
  [ "$(id -u)" = 0 ] || { echo "$0: run it as root: it installs a system in a folder and enters it" >&2; exit 2; }
  install_missing debootstrap
  failed=0 temporary=""
  clean=$1
  [ -n "$clean" ] || { clean=$(mktemp -d) && temporary=$clean; }
  if [ ! -e "$clean/etc/os-release" ]; then
    debootstrap --variant=minbase bookworm "$clean" >"$clean.log" 2>&1 || { tail -n 20 "$clean.log" >&2; exit 2; }
  fi
  printf 'deb http://deb.debian.org/debian bookworm main\ndeb http://deb.debian.org/debian bookworm-updates main\ndeb http://deb.debian.org/debian-security bookworm-security main\n' >"$clean/etc/apt/sources.list"
  mountpoint -q "$clean/proc" || mount -t proc proc "$clean/proc"
  trap 'umount "$clean/proc"; [ -z "$temporary" ] || rm -rf "$temporary" "$temporary.log"' EXIT
  cp /etc/resolv.conf "$clean/etc/resolv.conf"
  inside apt-get -qq update
}

inside() { chroot "$clean" env -i PATH=/usr/bin:/bin:/usr/sbin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# Installs packages quietly; says why where it fails.
install_inside() {
  inside apt-get -qq install -y --no-install-recommends "$@" >"$clean/tmp/apt.log" 2>&1 || { tail -n 20 "$clean/tmp/apt.log" >&2; exit 1; }
}

try() { # words, then the command, whose output has to contain $expect
  local words=$1 text
  shift
  if text=$(inside "$@" 2>&1) && [[ $text == *"$expect"* ]]; then
    echo "  ok   $words"
  else
    printf '  FAIL %s: %s\n' "$words" "$text"
    failed=1
  fi
}
