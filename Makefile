# Two commands: `make run` (build, simulate the flagship scene, make pictures) and `make test`.
BUILD := build/release
JOBS := $(shell nproc)
LOPE := $(BUILD)/bin/lope

.PHONY: run test build packages format tidy clean

run: build
	$(LOPE) run scenes/flagship.toml --render --overwrite

test: build
	tools/check_layers
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

build: packages
	cmake --preset release
	cmake --build $(BUILD) -j $(JOBS)

packages:
	tools/install_packages

format:
	git ls-files '*.h' '*.cpp' | xargs clang-format -i

tidy: build
	git ls-files 'src/*.cpp' 'apps/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy -p $(BUILD) --quiet

clean:
	rm -rf build
