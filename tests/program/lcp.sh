# `lope lcp`: complementarity problems from Matrix Market files.
. "$(dirname "$0")/harness.sh"

# Three cells in a row, open to the air on the left, a wall on the right that the liquid leaves.
cat >a.mtx <<'FILE'
%%MatrixMarket matrix coordinate real symmetric
3 3 5
1 1 3
2 1 -1
2 2 2
3 2 -1
3 3 1
FILE
vector() { printf '%%%%MatrixMarket matrix array real general\n3 1\n%s\n%s\n%s\n' "$1" "$2" "$3"; }
vector -1 0 1 >b.mtx
vector 0 0 1 >s.mtx

expect 0 "$lope" lcp a.mtx b.mtx --bounded s.mtx -o p.mtx
says "3 unknowns, 1 bounded"
says "converged"
says "residual"
exists p.mtx
# The wall cell separates: p₃ = 0, then p = (0.4, 0.2, 0).
[ "$(tail -n 1 p.mtx)" = 0 ] || fail "the wall cell has not separated: $(tail -n 1 p.mtx)"
awk 'NR > 3 { sum += $1 } END { exit !(sum > 0.599999 && sum < 0.600001) }' p.mtx || fail "p is wrong: $(tail -n 3 p.mtx)"
expect 0 "$lope" lcp --list
says "psor"
for method in $(awk '{ print $1 }' out); do
  expect 0 "$lope" lcp a.mtx b.mtx --bounded s.mtx --method "$method"
done
gzip -k a.mtx b.mtx s.mtx
expect 0 "$lope" lcp a.mtx.gz b.mtx.gz --bounded s.mtx.gz -o p.mtx.gz --tolerance 1e-9
[ "$(gzip -dc p.mtx.gz | tail -n 1)" = 0 ] || fail "the compressed solution is wrong"
expect 0 "$lope" lcp a.mtx b.mtx --bounded s.mtx --start p.mtx
says "0 iterations"

refused "name the files" -- "$lope" lcp
refused "did you mean 'psor'" -- "$lope" lcp a.mtx b.mtx --method psorr
refused "nowhere.mtx" "no such file" -- "$lope" lcp nowhere.mtx b.mtx
refused "a.mtx: a vector is wanted" -- "$lope" lcp a.mtx a.mtx
vector 0 0.5 1 >half.mtx
refused "half.mtx: flag 2 is 0.5" -- "$lope" lcp a.mtx b.mtx --bounded half.mtx
printf '%%%%MatrixMarket matrix array real general\n2 1\n1\n2\n' >short.mtx
refused "short.mtx: has 2 numbers" "3 rows" -- "$lope" lcp a.mtx short.mtx
sed 's/symmetric/general/' a.mtx >lower.mtx
refused "lower.mtx" "not symmetric" -- "$lope" lcp lower.mtx b.mtx
sed 's/^3 3 1$/3 3 0/' a.mtx >hollow.mtx
refused "hollow.mtx" "diagonal entry of row 3" -- "$lope" lcp hollow.mtx b.mtx
expect 2 "$lope" lcp a.mtx b.mtx --bounded s.mtx --method pgs --tolerance 1e-15 --max-iterations 1
complains "try another --method"
expect 3 "$lope" lcp a.mtx b.mtx -o nowhere/p.mtx
finish
