#!/usr/bin/env python3
"""Format, self-contained headers and clang-tidy over the C++ sources; `make lint` runs it.

A header or source that passed is not looked at again until it, or something of ours that it
includes, changes. Exit status 0: all passed; 1: something did not; 2: could not look.

  scripts/lint.py [--fix-format] [--only STEP] [FOLDER...]     STEP: format, headers or tidy
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-lint"
PASSED = BUILD / "passed"
FOLDERS = ["base", "hypotheses", "policies", "store", "runners", "web", "orchestrator", "kernels",
           "serving", "scripts"]
LEFT_OUT = re.compile(r"^(\..*|build.*|node_modules|dist|testdata)$")
JOBS = int(os.environ.get("JOBS") or os.cpu_count() or 1)

# Findings in our files only, be they included as headers or as the sources of a unity build; flags
# that only g++ knows are no finding.
TIDY = ["clang-tidy-16", "-p", str(BUILD), "--quiet", "--extra-arg=-Wno-unknown-warning-option",
        "--extra-arg=-Wno-undefined-internal",  # in tests; g++ has the word on it
        f"--header-filter=^{re.escape(str(ROOT))}/({'|'.join(FOLDERS)})/"]
UNITY = ["--checks=-bugprone-suspicious-include"]  # it includes sources, on purpose


def sources(folders):
    """C++ and CUDA files below `folders`, as paths relative to the root."""
    found = []
    for folder in folders:
        for here, below, names in os.walk(ROOT / folder):
            below[:] = sorted(name for name in below if not LEFT_OUT.match(name))
            found += [Path(here, name).relative_to(ROOT) for name in names
                      if Path(name).suffix in (".h", ".cuh", ".cc", ".cu")]
    return sorted(found)


def run(command, text=None):
    """The exit status and all output of a command."""
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=None if text is not None else subprocess.DEVNULL, text=True, cwd=ROOT,
                          check=False)
    return done.returncode, done.stdout


def all_included(path, includes, seen):
    """Adds to `seen` the file and every file of ours that it includes, directly or not."""
    if path in seen or not path.is_file():
        return
    seen.add(path)
    for name in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', path.read_text(errors="replace"),
                           re.MULTILINE):
        for folder in includes:
            if (folder / name).is_file():
                all_included(folder / name, includes, seen)
                break


def key(command, path):
    """Changes when the outcome could: the command, the rules, or a file of ours that is read."""
    includes = [ROOT] + [Path(flag[2:]) for flag in command
                         if flag.startswith("-I" + str(BUILD))]
    seen = set()
    all_included(path, includes, seen)
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    digest.update("\0".join(command).encode())
    for file in sorted(seen):
        digest.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def run_all(step, jobs):
    """Runs the jobs, (name, command, text on stdin, file for the key); returns how many failed."""
    PASSED.mkdir(parents=True, exist_ok=True)
    waiting = [(job, PASSED / key(job[1], job[3])) for job in jobs]
    waiting = [(job, stamp) for job, stamp in waiting if not stamp.exists()]
    print(f"{step}: {len(jobs)} files, {len(waiting)} to look at", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        futures = {pool.submit(run, job[1], job[2]): (job, stamp) for job, stamp in waiting}
        for future in concurrent.futures.as_completed(futures):
            job, stamp = futures[future]
            status, output = future.result()
            if status == 0:
                stamp.touch()
                continue
            failed += 1
            output = re.sub(r"^(\d+ warnings? .*generated\.|Suppressed .*|Use -header-filter.*)\n", "",
                            output, flags=re.MULTILINE)
            print(f"-- {step}: {job[0]}\n{output}", flush=True)
    return failed


def check_format(folders, fix):
    files = [str(path) for path in sources(folders)]
    print(f"format: {len(files)} files", flush=True)
    if not files:
        return 0
    status, output = run(["clang-format", *(["-i"] if fix else ["--dry-run", "-Werror"]), *files])
    if status != 0:
        print(output + "-- format: `make format` lays the files out", flush=True)
    return 1 if status != 0 else 0


def compile_commands():
    """Configures the lint build; {path: command} of each source, or unity file, that is ours."""
    status, output = run(["cmake", "--preset", "lint", "--log-level=WARNING"])
    if status == 0:  # headers made by the build: kernels/*/knobs.h
        status, output = run(["ninja", "-C", str(BUILD), "-t", "targets", "all"])
        made = [line.split(":")[0] for line in output.splitlines()
                if re.match(r".*/generated/\S+\.h: CUSTOM_COMMAND$", line)]
        if status == 0 and made:
            status, output = run(["ninja", "-C", str(BUILD), *made])
    if status != 0:
        print(output + "lint: could not configure the build", file=sys.stderr)
        sys.exit(2)
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    commands = {Path(entry["file"]): shlex.split(entry["command"]) for entry in entries}
    # Not what nvcc compiles, nor what the build writes (other than unity files).
    return {path: command for path, command in commands.items()
            if path.suffix != ".cu" and (not path.is_relative_to(BUILD) or "Unity" in path.parts)}


def flags_for(header, commands):
    """The flags of the source that shares the most folders with the header; of those that share as
    many, the one with the most flags, for a header may need what only one target of the folder has."""
    def rank(path):
        return len(os.path.commonpath([path, ROOT / header])), len(commands[path])
    command = commands[max(sorted(commands), key=rank)]
    end = command.index("-o")
    return command[:end]


def check_headers(folders, commands):
    jobs = []
    for path in sources(folders):
        # A contract suite stands alone only with its subjects; the tests that name them are looked at.
        if path.suffix == ".h" and not path.name.endswith("_contract.h"):
            command = [*flags_for(path, commands), "-Werror", "-fsyntax-only", "-x", "c++", "-"]
            jobs.append((path, command, f'#include "{path}"\n', ROOT / path))
    return run_all("headers", jobs)


def check_tidy(folders, commands):
    """Every source; of a unity build the file that includes its sources."""
    jobs = []
    for path in sorted(commands):
        unity = path.is_relative_to(BUILD)
        folder = path.relative_to(BUILD if unity else ROOT).as_posix()
        if any(folder.startswith(wanted + "/") for wanted in folders):
            jobs.append((folder, [*TIDY, *(UNITY if unity else []), str(path)], None, path))
    return run_all("clang-tidy", jobs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="look at these only")
    parser.add_argument("--fix-format", action="store_true", help="lay out the files, nothing else")
    parser.add_argument("--only", choices=["format", "headers", "tidy"])
    options = parser.parse_args()
    folders = [folder.rstrip("/") for folder in options.folders]
    failed = 0
    if options.fix_format or options.only in (None, "format"):
        failed += check_format(folders, options.fix_format)
    if not options.fix_format and options.only != "format":
        commands = compile_commands()
        if options.only in (None, "headers"):
            failed += check_headers(folders, commands)
        if options.only in (None, "tidy"):
            failed += check_tidy(folders, commands)
    print("lint: passed" if failed == 0 else f"lint: {failed} did not pass", flush=True)
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
