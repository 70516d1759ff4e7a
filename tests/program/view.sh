# `lope view`: a real server on this machine, what it refuses, a run that it starts, and its end.
here=$(dirname "$(realpath "$0")")
. "$here/harness.sh"
write_bar
if ! with viewer; then
  expect 3 "$lope" view
  complains "built without the viewer"
  finish
fi

expect 3 "$lope" view --page .
complains "has not been built"
mkdir -p page/assets
echo '<html>' >page/index.html
echo '1' >page/assets/page.js
refused "is not the directory of a run" -- "$lope" view . --page page
refused "no scene file 'nothing'" -- "$lope" view nothing --page page
refused "--port" -- "$lope" view --port 99999
refused "--set" -- "$lope" view --page page --set time.duration=1
sed 's/box =/bax =/' bar.toml >bad.toml
refused "bax" -- "$lope" view bad.toml --page page

expect 0 python3 "$here/view_requests.py" "$lope" bar.toml page
says "all requests answered as they should"
exists runs/bar/checkpoint.h5
absent runs/bar/live.jsonl
finish
