# What the program says of itself: completion for bash, the manual page, and rehearsals (--dry-run), which find what is wrong and do nothing.
. "$(dirname "$0")/harness.sh"
write_bar
mkdir -p runs_here/frames

# Completion, called as bash does.
expect 0 "$lope" completion
cp out completion.bash
bash -n completion.bash || fail "the completion is no bash"
complete_words() {
  bash --norc -c '. ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lope; printf "%s\n" "${COMPREPLY[@]}"' _ "$@" >out
}
offers() { local word=$1; shift; complete_words "$@"; grep -qxF -- "$word" out || fail "'$*' does not offer $word"; }
offers_not() { local word=$1; shift; complete_words "$@"; ! grep -qxF -- "$word" out || fail "'$*' offers $word"; }
for command in run check compare export mesh scenes solvers lcp bench manual completion; do offers $command lope ""; done
offers_not run lope "c"
offers --dry-run lope --
offers flagship lope run ""
offers flagship lope --dry-run run flag
offers bar.toml lope run ba
offers --resume lope run flagship --re
offers newton-pcg lope run flagship --method newton-p
offers_not flagship lope run flagship --method ""
offers newton,dot lope compare tss --methods newton,do
offers time.step= lope run flagship --set time.st
offers runs_here lope export runs_
offers_not bar.toml lope export ba
offers ply lope export runs_here --format p
offers y lope export runs_here --up ""
offers pi-amg lope lcp --method pi
# A word that bash has cut at "=": the part behind it alone is replaced.
offers newton lope run flagship --method = newto
with render && offers von_mises lope render runs_here --color-by von
if with bench; then
  offers torture lope bench tor
  offers --perturbations lope bench torture --pert
fi

# Everything that the help names is in the manual page, which formats without a complaint.
expect 0 "$lope" manual
cp out lope.1
for command in $("$lope" --help | sed -n '/Subcommands/,$s/^  \([a-z]*\) .*/\1/p'); do
  grep -q "^\.SS .*lope $command" lope.1 || fail "the manual page has no $command"
done
grep -q '^\.TP$' lope.1 || fail "the manual page has no options"
for scene in flagship dam_break; do grep -qF "\\fB$scene\\fP" lope.1 || fail "the manual page does not name $scene"; done
"$lope" solvers | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p' | sed 's/-/\\-/g' | while read -r method; do
  grep -qF "\\fB$method\\fP" lope.1 || echo "$method"
done >missing
[ ! -s missing ] || fail "the manual page lacks methods: $(cat missing)"
with bench && { grep -q '^\.SH BENCHMARKS' lope.1 || fail "the manual page has no benchmarks"; }
if command -v man >/dev/null; then
  LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l -P cat lope.1 >page 2>complaints || fail "man cannot show the page"
  [ ! -s complaints ] || fail "the formatter complains: $(cat complaints)"
  sed 's/.\x08//g' page | grep -q -- '--color-by' || ! with render || fail "an option is lost"
fi

# Rehearsals: the messages and exit codes of the real thing, and nothing is written.
for words in "run bar.toml --set time.step=0.01" "check bar.toml" "compare bar.toml --methods newton,dot" "mesh a.obj -o b.msh" "lcp A.mtx b.mtx" "scenes"; do
  expect 0 "$lope" --dry-run $words
  [ ! -s out ] || fail "a rehearsal prints: $words"
done
refused "time.stp" -- "$lope" --dry-run run bar.toml --set time.stp=1
refused "newtn" -- "$lope" --dry-run compare bar.toml --methods newtn
refused "sse9" -- "$lope" --dry-run run bar.toml --isa sse9
refused "nonsense" -- "$lope" --dry-run lcp A b --method nonsense
refused "b.xyz" -- "$lope" --dry-run mesh a.obj -o b.xyz
refused "9-1" -- "$lope" --dry-run export runs_here --frames 9-1
with render && refused "presure" "pressure" -- "$lope" --dry-run render runs_here --color-by presure
if with bench; then
  expect 0 "$lope" --dry-run bench torture --methods newton
  expect 1 "$lope" --dry-run bench tortur
  complains "no benchmark 'tortur'"
fi
absent runs
absent comparisons
absent bench_results
finish
