# `make check` is what CI runs. Every tool is installed by a script when it is missing.
SHELL := bash
BENCHTIME ?= 2s

# But for SQLite, which is C that was translated: the race detector, and the check of
# pointers that comes with it, make it ten times as slow, and find nothing of ours there. No
# other package may go without: where it shares a generic function, the linker may take its.
RACE = -race -gcflags='modernc.org/...=-d=checkptr=0' \
	-gcflags='modernc.org/sqlite/lib=-race=false -d=checkptr=0'

# Go sources of this module alone: packages of npm bring some along too.
GO_FILES = $(shell find . -name node_modules -prune -o -name '.?*' -prune -o -name '*.go' -print)

.PHONY: help generate fmt lint test bench check build

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' Makefile | expand -t 12

generate: ## write graph/ from the schema, and web/dist from web/src
	go generate ./...
	scripts/web.sh

fmt: ## format the Go code
	gofmt -w $(GO_FILES)

lint: ## run the linters
	scripts/lint.sh

# Stores are real, so a result of an earlier run proves nothing: -count=1.
test: ## run all tests on stores of their own
	scripts/packages.sh cc
	scripts/with-stores.sh go test $(RACE) -count=1 -parallel 4 -timeout 25m ./...

bench: ## run the load scenarios beside their baselines; BENCHTIME=10s for longer
	scripts/with-stores.sh --durable go test -run '^$$' -bench . -benchtime $(BENCHTIME) -timeout 60m ./bench/...

check: ## all that must pass: generated files, format, go.mod, linters, tests
	scripts/generated.sh $(MAKE) generate
	@unformatted=$$(gofmt -l $(GO_FILES)) && [[ -z $$unformatted ]] || { echo "make fmt: $$unformatted"; exit 1; }
	go mod tidy -diff
	go vet ./...
	$(MAKE) lint
	$(MAKE) test

build: ## compile ./kith
	go build -o kith .
