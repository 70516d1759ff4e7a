# Two commands: `make run` (build the program, simulate the flagship scene, make pictures) and `make test`. `make view` shows the
# flagship in a browser, `make docs` writes the pages of docs/ as a site, `make package` a Debian package.
BUILD := build/release
JOBS := $(shell nproc)
LOPE := $(BUILD)/bin/lope
CTEST := ctest --output-on-failure -j $(JOBS) --test-dir
# How far a build is, in the words of a run. (The last word is nothing: it keeps the space before it.)
export NINJA_STATUS = file %f/%t, %p, %e s elapsed: $(NOTHING)

.PHONY: run view page test python package docs sanitize build configure packages format tidy clean

run: configure
	cmake --build $(BUILD) -j $(JOBS) --target lope_program
	$(LOPE) run scenes/flagship.toml --render --overwrite

# Opens nothing by itself: the program prints the address.
view: configure page
	cmake --build $(BUILD) -j $(JOBS) --target lope_program
	$(LOPE) view flagship

# The page of the viewer, built by Node.js and npm: Debian's where there are none.
page: viewer/dist/index.html

viewer/dist/index.html: viewer/node_modules/.package-lock.json viewer/index.html viewer/vite.config.ts $(wildcard viewer/src/*)
	cd viewer && npm run --silent build

viewer/node_modules/.package-lock.json: viewer/package-lock.json
	command -v npm >/dev/null || tools/install_packages viewer
	cd viewer && npm ci --silent --no-audit --no-fund

test: build
	tools/check_layers
	$(CTEST) $(BUILD)

# The Python module, in a build of its own (its object code is position-independent), and its tests.
python:
	tools/install_packages python
	cmake --preset python
	cmake --build build/python -j $(JOBS) --target lope_python
	$(CTEST) build/python -L python

# A Debian package of the program in build/packages, which is then installed, used and removed in a copy of this machine.
package: configure
	tools/install_packages package
	[ -e viewer/dist/index.html ] || echo "The page of the viewer is not in the package: make page builds it"
	cmake --build $(BUILD) -j $(JOBS) --target lope_program lope_bench_program
	rm -f build/packages/*.deb
	tools/make_packages $(BUILD) build/packages
	tests/package/packages.sh build/packages || [ $$? -eq 77 ]

# The pages of docs/ as a site that needs no network: build/site/index.html.
docs:
	tools/install_packages docs
	PYTHONDONTWRITEBYTECODE=1 mkdocs build --quiet
	@echo "build/site/index.html"

# The whole suite with asserts on, under the address and the undefined behaviour sanitizer; then what runs in threads under the
# thread sanitizer (docs/testing.md).
sanitize: export ASAN_OPTIONS = detect_stack_use_after_return=1
sanitize: export UBSAN_OPTIONS = print_stacktrace=1
# Which reports are known to be false, and why, stands in the files.
sanitize: export LSAN_OPTIONS = suppressions=$(CURDIR)/tests/sanitizers/leaks.txt:print_suppressions=0
sanitize: export TSAN_OPTIONS = suppressions=$(CURDIR)/tests/sanitizers/races.txt:print_suppressions=0:second_deadlock_stack=1
sanitize: packages
	cmake --preset asan
	cmake --build build/asan -j $(JOBS)
	$(CTEST) build/asan
	cmake --preset tsan
	cmake --build build/tsan -j $(JOBS) --target threaded_tests
	$(CTEST) build/tsan -L threaded

build: configure
	cmake --build $(BUILD) -j $(JOBS)

configure: packages
	cmake --preset release

packages:
	tools/install_packages

format:
	git ls-files '*.h' '*.cpp' | xargs clang-format -i

tidy: build
	git ls-files 'src/*.cpp' 'apps/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy -p $(BUILD) --quiet

clean:
	rm -rf build
