# The tests of viewer/, where its page is built.
#   $1  the program     $2  the folder viewer/     $3  the browser     $4  node
if [ ! -d "$2/node_modules" ] || [ ! -e "$2/dist/index.html" ]; then
  echo "not tested: the page is not built (make page)"
  exit 77
fi
cd "$2" && LOPE=$(realpath "$1") CHROMIUM=$3 exec "$4" --test tests/units.test.mjs tests/browser.test.mjs
