# A client opens the exports of runs.sh. What it says stands in the output; a client that fails without a word fails the test.
#   $1  blender, paraview, three or addon     $2  the client     $3  the folder of runs.sh     $4  the sources
#   $5  the program, for the add-on
set -u
here=$4/tests/clients
case $1 in
  blender) "$2" --background --factory-startup --python-exit-code 1 --python "$here/blender_formats.py" -- "$3" >log 2>&1 ;;
  addon)
    "$2" --background --factory-startup --python-exit-code 1 --python "$here/blender_addon.py" -- "$3" "$4" "$(realpath "$5")" \
      "$PWD/results" >log 2>&1
    ;;
  paraview) "$2" "$here/paraview_series.py" "$3" >log 2>&1 ;;
  three)
    if [ ! -d "$4/viewer/node_modules/three" ]; then
      echo "not tested: three.js is not installed (make page)"
      exit 77
    fi
    "$2" "$here/three_loaders.mjs" "$3" "$4/viewer" >log 2>&1
    ;;
esac
status=$?
grep -E "FAILED|differences|Error|error:" log || tail -n 20 log
grep -qE "(^|[^0-9])0 differences" log && exit "$status"
exit 1
