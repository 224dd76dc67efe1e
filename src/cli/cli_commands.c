/* The table of commands: one row each. docs/commands.md documents them; a test holds it to this. */
#include "cli/cli_internal.h"

/* Launches of a CUDA file. */
#define LAUNCHES                                                                                   \
  (CLI_BIT(CASES) | CLI_BIT(KERNEL) | CLI_BIT(GRID) | CLI_BIT(BLOCK) | CLI_BIT(SHARED) |           \
   CLI_BIT(ARG))

const cli_command cli_commands[] = {
    {
        .name = "devices",
        .words = "",
        .options = CLI_BIT(CALIBRATE) | CLI_BIT(DEVICE) | CLI_BIT(WAIT) | CLI_BIT(FORCE),
        .run = cli_devices,
        .doc = "list GPUs and virtual devices",
        .details =
            "Lists every device that can evaluate candidates. On a GPU (cuda:N) they are verified\n"
            "and timed; on a virtual device their PTX is verified on the CPU, sectors are\n"
            "counted and times predicted.\n"
            "--calibrate measures the model's parameters of a GPU (--device, default the\n"
            "first one) in 2 s; the first `tune` on it does the same.\n"
            "Exits with 0 even without a GPU.",
        .example = "devices",
    },
    {
        .name = "check",
        .words = "SPEC...",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .options = CLI_BIT(PARAM) | CLI_BIT(ADD_SIZE),
        .run = cli_check,
        .doc = "check specs; errors as file:line: text",
        .details = "Runs the script and checks body, indices and layouts, including that no two\n"
                   "elements share a byte. Needs no GPU and no compiler.",
        .example = "check my_kernel.lua",
    },
    {
        .name = "space",
        .words = "SPEC",
        .min_words = 1,
        .max_words = 1,
        .options = CLI_BIT(PARAM) | CLI_BIT(ADD_SIZE) | CLI_BIT(DEVICE) | CLI_BIT(STRATEGIES) |
                   CLI_BIT(MODES),
        .run = cli_space,
        .doc = "list strategies, axes and candidates, and what was pruned",
        .details =
            "Lists strategies with their axes, and why points of the space were pruned. The\n"
            "device sets limits such as shared memory; no GPU is needed.",
        .example = "space my_kernel.lua --device virtual:h200",
    },
    {
        .name = "gen",
        .words = "SPEC",
        .min_words = 1,
        .max_words = 1,
        .options = CLI_BIT(PARAM) | CLI_BIT(ADD_SIZE) | CLI_BIT(PICK) | CLI_BIT(WINNER) |
                   CLI_BIT(SIZE) | CLI_BIT(LIST) | CLI_BIT(DEVICE) | CLI_BIT(STRATEGIES),
        .run = cli_gen,
        .doc = "print the CUDA source of a candidate",
        .details =
            "Prints self-contained source without headers, byte-identical to what `tune` times\n"
            "and `emit` writes. --list prints the labels for --pick.",
        .example = "gen my_kernel.lua --pick \"map threads=256 items=1 vec=4 evict=none\"",
    },
    {
        .name = "explain",
        .words = "SPEC LABEL",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .options = CLI_BIT(PARAM) | CLI_BIT(DEVICE) | CLI_BIT(STRATEGIES),
        .run = cli_explain,
        .doc = "explain a candidate's label, axis by axis",
        .details =
            "Explains the strategy, this candidate, and the meaning, value and alternatives of\n"
            "each axis. The label may be quoted or not; default the naive variant. Needs no\n"
            "GPU.",
        .example = "explain my_kernel.lua map threads=256 items=2 vec=4 evict=none",
    },
    {
        .name = "tune",
        .words = "SPEC...",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .options = CLI_BIT(PARAM) | CLI_BIT(ADD_SIZE) | CLI_BIT(DEVICE) | CLI_BIT(BUDGET) |
                   CLI_BIT(SELECT) | CLI_BIT(AGAIN) | CLI_BIT(NO_CHECK) | CLI_BIT(SEARCH) |
                   CLI_BIT(MAX_CANDIDATES) | CLI_BIT(SEED) | CLI_BIT(STRATEGIES) | CLI_BIT(TOP) |
                   CLI_BIT(WAIT) | CLI_BIT(FORCE) | CLI_BIT(EVENTS) | CLI_BIT(ONLY) |
                   CLI_BIT(SHARD) | CLI_BIT(TOP_OF) | CLI_BIT(NO_RANGE),
        .run = cli_tune,
        .doc = "find the fastest coalesced kernel, and store it",
        .details =
            "Generates, compiles, verifies and times candidates, prints a leaderboard for each\n"
            "size and stores all results. The default device is the first GPU or, without\n"
            "one, the virtual H200, which predicts times. Run again, it resumes where it\n"
            "stopped. Ctrl-C stops after the current step and stores the results so far; a\n"
            "second one ends the program at once.",
        .example = "tune my_kernel.lua --budget 60s",
    },
    {
        .name = "submit",
        .words = "SPEC... -- [options]",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .options = CLI_BIT(SHARDS) | CLI_BIT(ENGINE) | CLI_BIT(GRES) | CLI_BIT(TIME) |
                   CLI_BIT(HOSTS) | CLI_BIT(DRY_RUN),
        .run = cli_submit,
        .doc = "tune shares of the candidates as cluster jobs, then time the best",
        .details =
            "Writes scripts to the directory --store and submits them to Slurm: a job array with\n"
            "one task per share, each with one GPU and its own store, then a job that merges the\n"
            "stores and runs the final heat. A requeued task resumes where it stopped. With\n"
            "--engine parallel, GNU parallel does the same on a list of hosts. Options after --\n"
            "are passed to `tune`.",
        .example = "submit my_kernel.lua --shards 8 --gres gpu:1 --store fleet -- --budget 1h",
    },
    {
        .name = "status",
        .words = "DIRECTORY",
        .min_words = 1,
        .max_words = 1,
        .run = cli_status,
        .doc = "show the progress of `submit`",
        .details =
            "Prints a line for each share, kernel and size: evaluated candidates, the best so "
            "far,\n"
            "the time of the last result, and slow nodes. It reads the stores of the shares and\n"
            "does not query the scheduler.",
        .example = "status fleet",
    },
    {
        .name = "report",
        .words = "SPEC",
        .min_words = 1,
        .max_words = 1,
        .options = CLI_BIT(PARAM) | CLI_BIT(DEVICE) | CLI_BIT(STRATEGIES) | CLI_BIT(ONLY) |
                   CLI_BIT(MAX_CANDIDATES) | CLI_BIT(SEED) | CLI_BIT(WAIT) | CLI_BIT(OUT),
        .run = cli_page,
        .doc = "write a session as one self-contained HTML page",
        .details =
            "Runs a session like `tune` (a complete one is read from the store) and writes a "
            "page:\n"
            "the gain, why the winner won, access patterns of the naive variant and of the\n"
            "winner, the kernel with counts per line, roofline, all candidates, times by axis.",
        .example = "report my_kernel.lua -o my_kernel.html",
    },
    {
        .name = "emit",
        .words = "SPEC|NAME",
        .min_words = 1,
        .max_words = 1,
        .options = CLI_BIT(PARAM) | CLI_BIT(OUT) | CLI_BIT(FORM) | CLI_BIT(TARGETS) |
                   CLI_BIT(DEPS) | CLI_BIT(PYTHON) | CLI_BIT(SELFTEST),
        .run = cli_emit,
        .doc = "write the kernel header for all tuned devices",
        .details =
            "Writes the stored winners, the naive kernel as fallback, a launch function and the\n"
            "origin of every figure. With a spec file, the store must have results of this\n"
            "version of it; with a kernel name, the newest version is used.",
        .example = "emit my_kernel.lua -o my_kernel.h",
    },
    {
        .name = "merge",
        .words = "OUT.db STORE.db...",
        .min_words = 2,
        .max_words = CLI_ANY_NUMBER,
        .run = cli_merge,
        .doc = "merge stores into one",
        .details =
            "OUT.db is created or extended, in one transaction; order and repetition do not\n"
            "matter. If two stores measured the same candidate, the latest measurement counts,\n"
            "and the others are kept with their samples.",
        .example = "merge all.db node1.db node2.db",
    },
    {
        .name = "export",
        .words = "[NAME]",
        .max_words = 1,
        .options = CLI_BIT(FORMAT) | CLI_BIT(OUT) | CLI_BIT(SIZE) | CLI_BIT(DEVICE),
        .run = cli_export,
        .doc = "export the store as JSON, or a run for other tuners",
        .details =
            "json is the whole store and can be imported exactly. kernel-tuner (a cache file) and\n"
            "t4 (results of the auto-tuning association) hold one run, selected by NAME, --size\n"
            "and --device.",
        .example = "export -o results.json",
    },
    {
        .name = "import",
        .words = "FILE...",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .run = cli_import,
        .doc = "import exports, Kernel Tuner caches or T4 results",
        .details = "Results of other programs become a separate problem, such as\n"
                   "kernel-tuner:convolution, without a winner: no header is emitted from it. A\n"
                   "malformed file changes nothing, and the message says where it is malformed.",
        .example = "import results.json",
    },
    {
        .name = "compare",
        .words = "A B",
        .min_words = 2,
        .max_words = 2,
        .options = CLI_BIT(SIZE) | CLI_BIT(TOP) | CLI_BIT(OUT),
        .run = cli_compare,
        .doc = "compare two stores or dates",
        .details =
            "A and B are store files, or name@date (UTC, or a prefix of a date: name@2026-01) for\n"
            "the state of the store at the end of that time; name@ is now. Every common\n"
            "candidate gets a verdict: FAST (B is faster), SLOW, SAME or AMBIGUOUS; on virtual\n"
            "devices by predictions. Changed winners and conditions are listed. --out also\n"
            "writes an HTML page.",
        .example = "compare before.db after.db",
    },
    {
        .name = "count",
        .words = "FILE.cu",
        .min_words = 1,
        .max_words = 1,
        .options = LAUNCHES | CLI_BIT(ARCH) | CLI_BIT(COMPILER) | CLI_BIT(COALESCING) |
                   CLI_BIT(CSV) | CLI_BIT(BY) | CLI_BIT(THREADS) | CLI_BIT(INCLUDE) |
                   CLI_BIT(DEFINE) | CLI_BIT(NVRTC) | CLI_BIT(OUT),
        .run = cli_count,
        .doc = "count the memory traffic of any CUDA file's launches",
        .details =
            "Compiles the file, runs the launches of --cases, or of --kernel, on the CPU and "
            "counts\n"
            "requests, sectors and shared memory wavefronts like a GPU profiler. Needs no GPU.\n"
            "With --coalescing of an older device the sectors are its transactions: of 32 to\n"
            "128 bytes on cc10 and cc12, loads of 128 bytes on cc20, 32 bytes elsewhere.\n"
            "A failing case is reported with its diagnosis, and the others still run.",
        .example = "count kernels.cu --cases cases.json --csv",
    },
    {
        .name = "sanitize",
        .words = "FILE.cu",
        .min_words = 1,
        .max_words = 1,
        .options = LAUNCHES | CLI_BIT(ARCH) | CLI_BIT(COMPILER) | CLI_BIT(INCLUDE) |
                   CLI_BIT(DEFINE) | CLI_BIT(NVRTC) | CLI_BIT(FORMAT) | CLI_BIT(LIMITS) |
                   CLI_BIT(WRITE_LIMITS) | CLI_BIT(OUT),
        .run = cli_sanitize,
        .doc = "find races, undefined values and bad accesses in any CUDA file",
        .details =
            "Runs launches like `count` and finds data races, uninitialised values, out-of-bounds "
            "or\n"
            "misaligned accesses, and barriers that not all threads reach. Reports the line, the\n"
            "thread, and the other access of a race or the load of an undefined value. Needs no\n"
            "GPU. Exits with 5 if it finds something. With --limits (written by --write-limits),\n"
            "sectors, wavefronts and registers above their limits are errors too; counts are the\n"
            "same on every machine with the same compiler.",
        .example = "sanitize k.cu --kernel scale --grid 64 --block 256 --arg 'x=f32[16384]'",
    },
    {
        .name = "profile",
        .words = "FILE.cu|SPEC",
        .min_words = 1,
        .max_words = 1,
        .options = LAUNCHES | CLI_BIT(PICK) | CLI_BIT(SIZE) | CLI_BIT(ADD_SIZE) | CLI_BIT(PARAM) |
                   CLI_BIT(STRATEGIES) | CLI_BIT(HTML) | CLI_BIT(BASELINE) | CLI_BIT(SECTION) |
                   CLI_BIT(COUNTERS) | CLI_BIT(METRICS) | CLI_BIT(REQUESTS) | CLI_BIT(CSV) |
                   CLI_BIT(DEVICE) | CLI_BIT(ARCH) | CLI_BIT(COMPILER) | CLI_BIT(TOP) |
                   CLI_BIT(THREADS) | CLI_BIT(INCLUDE) | CLI_BIT(DEFINE) | CLI_BIT(NVRTC) |
                   CLI_BIT(CLOCK) | CLI_BIT(OUT),
        .run = cli_profile,
        .doc = "where a kernel wastes memory accesses, and what to try",
        .details =
            "Profiles the launches of a CUDA file (--cases or --kernel, as for `count`), or the\n"
            "candidate --pick of a spec at --size, on the CPU: launch configuration and occupancy\n"
            "on --device, global and shared memory accesses, divergence, the worst lines, and\n"
            "issues with evidence, what to try, and the possible gain. Needs no GPU.",
        .example =
            "profile k.cu --kernel scale --grid 64 --block 256 --arg 'x=f32[16384]' --arg n=16384",
    },
    {
        .name = "doctor",
        .words = "",
        .options = CLI_BIT(DEVICE),
        .run = cli_doctor,
        .doc = "check that this machine has everything that tuning needs",
        .details =
            "Checks driver, GPU and its other users, NVRTC, store, cache, locks, limits, and runs\n"
            "one kernel from spec to verdict. Each line is ok, warn or fail, with a remedy;\n"
            "exits with 0 if the machine is usable. Needs neither a GPU nor a toolkit.",
        .example = "doctor --device cuda:0",
    },
    {
        .name = "transfer",
        .words = "[SPEC]",
        .max_words = 1,
        .options = CLI_BIT(DEVICE) | CLI_BIT(SIZES) | CLI_BIT(BUDGET) | CLI_BIT(AGAIN) |
                   CLI_BIT(WAIT) | CLI_BIT(FORCE) | CLI_BIT(SIZE) | CLI_BIT(STRATEGIES) |
                   CLI_BIT(SEED) | CLI_BIT(PARAM),
        .run = cli_transfer,
        .doc = "time host transfers, alone or with a spec's kernel",
        .details =
            "Times copies to the device, to the host and in both directions, by size and kind of\n"
            "host memory: pageable, page-locked, write-combined, registered, mapped (zero copy)\n"
            "and managed with prefetch; with two devices (--device cuda:0,cuda:1) also between\n"
            "them. Prints and stores latency, bandwidth and the half-bandwidth size. Unsupported\n"
            "kinds are listed with the reason. Virtual devices use the rates of their "
            "description.\n"
            "With SPEC (`host = true`): tries ways to stream its arrays through the kernel, in\n"
            "chunks on several streams, from page-locked and pageable memory, and prints them\n"
            "against the bound with a timeline of the best. With two devices of one model the\n"
            "best ways are also tried with half of the work on each.",
        .example = "transfer --device virtual:h200 --sizes 4K,1M,256M",
    },
    {
        .name = "init",
        .words = "[DIR]",
        .max_words = 1,
        .run = cli_init,
        .doc = "write a commented example spec and layout",
        .details = "Writes into the current directory, or DIR. Never overwrites a file.",
        .example = "init kernels",
    },
    {
        .name = "examples",
        .words = "[NAME]",
        .max_words = 1,
        .options = CLI_BIT(OUT),
        .run = cli_examples,
        .doc = "list, print or write the built-in specs",
        .details = "Lists the built-in specs; with NAME prints one; with -o writes it (without "
                   "NAME all of\n"
                   "them) into a directory. Never overwrites a file.",
        .example = "examples transpose_f32 -o .",
    },
    {
        .name = "generate",
        .words = "KIND",
        .min_words = 1,
        .max_words = 1,
        .run = cli_generate,
        .doc = "print the man page, shell completions or editor definitions",
        .details = "KIND is man, bash, zsh, fish, or lua (API definitions for editors with\n"
                   "lua-language-server).",
        .example = "generate bash",
    },
};
const int cli_n_commands = SCT_COUNT(cli_commands);
