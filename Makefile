# The front door. CMake does the work (CMakePresets.json); this file only says it in one word.
#
#   make run                       install what is missing, build, show a first night
#   make test                      the same, then every test; ARGS go to ctest: make test ARGS="-L unit"
#   make help                      the rest
#
# JOBS = parallel compilers and tests; ARGS = passed on to the program behind `run`, `test` and `sanitize`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
DEPS =
ARGS ?=
KILLS ?= 200
PREFIX ?= /usr/local

.PHONY: help deps configure run build test sanitize tsan chaos lint format install clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

deps:
	@scripts/deps.sh $(DEPS)

configure: deps
	@cmake --preset release --log-level=WARNING

run: configure  ## build the daemon and show a first night: make run ARGS="--port 8701"
	@cmake --build build --target nightshift -j $(JOBS)
	@build/bin/nightshift demo $(ARGS)

# Only tests need what `--test` adds, so that `make run` stays small.
build sanitize tsan: DEPS = --test

build: configure  ## everything, tests too; programs go to build/bin
	@cmake --build build -j $(JOBS)

# Measurements and integration tests are marked serial, so the jobs here are for the others.
test: build  ## build and pass every test: make test ARGS="-L unit -R tidy"
	@ctest --test-dir build --output-on-failure --no-tests=error -j $(JOBS) $(ARGS)

sanitize: deps  ## the tests under address and undefined-behaviour sanitizers
	@cmake --preset dev --log-level=WARNING
	@cmake --build --preset dev -j $(JOBS)
	@ctest --preset dev $(ARGS)

tsan: deps  ## the tests under the thread sanitizer
	@cmake --preset tsan --log-level=WARNING
	@cmake --build --preset tsan -j $(JOBS)
	@ctest --preset tsan $(ARGS)

chaos: build  ## real nights under 200 random kills: make chaos KILLS=500
	@NIGHTSHIFT_CHAOS_KILLS=$(KILLS) build/bin/crash_test "nights under random kills*"

lint:  ## format, headers that stand alone, clang-tidy; nothing is changed
	@scripts/deps.sh --lint
	@JOBS=$(JOBS) scripts/lint.py $(ARGS)

format:  ## lay out the C++ sources as .clang-format says
	@scripts/deps.sh --lint
	@scripts/lint.py --fix-format

install: configure  ## the daemon and the shipped policies: make install PREFIX=~/.local
	@cmake --build build --target nightshift -j $(JOBS)
	@cmake --install build --prefix "$(PREFIX)"

clean:  ## remove every build folder; the state of the daemon is not touched
	@rm -rf build build-dev build-tsan build-cuda build-lint
