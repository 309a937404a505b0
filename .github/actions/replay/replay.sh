#!/usr/bin/env bash
# Replays CORPUS with the commit BEFORE and with this checkout; writes the comparison to the job's summary.
#   CORPUS=tests/kernels.uopcorpus BEFORE=HEAD^ .github/actions/replay/replay.sh
# UOPSCOPE names the program; without it, it is built from this checkout. BUILD is a shell command that builds the commit before
# in its work tree (cmake and ninja without it). Exit code 1 where ASSERT_SAME=true and a kernel changed.
set -euo pipefail
: "${CORPUS:?give a .uopcorpus file or scripts}" "${BEFORE:?give the commit to compare with}"
root=$(git rev-parse --show-toplevel)
program=${UOPSCOPE:-}
if [ -z "$program" ]; then
  "$root/app/run" --version
  program=$root/build/bin/uopscope
fi
program=$(realpath "$(command -v "$program")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $CORPUS in
  *.uopcorpus) cp "$CORPUS" "$work/corpus.uopcorpus" ;;
  *) # shellcheck disable=SC2086 # several scripts
     "$program" replay capture -q $CORPUS -o "$work/corpus.uopcorpus" ;;
esac
"$program" replay run -q "$work/corpus.uopcorpus" --commit "$BEFORE" ${BUILD:+--build "$BUILD"} -o "$work/before.uopcorpus" || [ $? = 1 ] # 1: some kernels fail, which the comparison tells
"$program" replay run -q "$work/corpus.uopcorpus" -o "$work/after.uopcorpus" || [ $? = 1 ]
code=0
(cd "$work" && "$program" replay diff -q --assert-same before.uopcorpus after.uopcorpus) >"$work/report.txt" || code=$?
{
  echo "### Kernels: $(git rev-parse --short "$BEFORE") to $(git rev-parse --short HEAD)"
  echo '```'
  head -c 60000 "$work/report.txt"
  echo '```'
} >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
[ "$code" -le 1 ] || exit "$code"
if [ "${ASSERT_SAME:-false}" = true ]; then exit "$code"; fi
