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
        .doc = "GPUs here, and the virtual ones",
        .details =
            "Every device that can evaluate candidates. On a GPU (cuda:N) they are verified\n"
            "and timed; on a virtual one their PTX is verified on the CPU, their sectors are\n"
            "counted and their times predicted, not measured.\n"
            "--calibrate: micro-kernels measure in 2 s what predictions for a GPU (--device,\n"
            "default the first one) need; the first `tune` on it does the same.\n"
            "Ends with 0 where there is no GPU.",
        .example = "devices",
    },
    {
        .name = "check",
        .words = "SPEC...",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .options = CLI_BIT(PARAM) | CLI_BIT(ADD_SIZE),
        .run = cli_check,
        .doc = "is the spec right? errors as file:line: text",
        .details = "Runs the script, checks body, places and layouts, and looks whether any two\n"
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
        .doc = "how many candidates there are, what was pruned and why",
        .details = "Strategies with their axes, and what became of every point of the space. The\n"
                   "device gives limits such as shared memory; no GPU is needed.",
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
        .doc = "the CUDA source of a candidate",
        .details =
            "Self-contained source without headers, byte-identical to what `tune` times and\n"
            "`emit` writes down. --list prints the labels that --pick takes.",
        .example = "gen my_kernel.lua --pick \"map threads=256 items=1 vec=4 evict=none\"",
    },
    {
        .name = "explain",
        .words = "SPEC LABEL",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .options = CLI_BIT(PARAM) | CLI_BIT(DEVICE) | CLI_BIT(STRATEGIES),
        .run = cli_explain,
        .doc = "what a candidate's label says, axis by axis",
        .details = "The label as a leaderboard has it, in quotes or not; without one the naive\n"
                   "variant. Prints what its strategy does, what this candidate does, and of each\n"
                   "axis the value, the other values, and what it is. Needs no GPU.",
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
        .doc = "find the fastest coalesced kernel, and keep it in the store",
        .details =
            "Generates, compiles, verifies and times every candidate, prints a leaderboard\n"
            "for each size and stores all of it. The default device is the first GPU and,\n"
            "where there is none, the virtual H200, which counts and does not time. Running\n"
            "it again continues where it stopped. Ctrl-C ends it after the current step,\n"
            "with everything stored; a second one ends it at once.",
        .example = "tune my_kernel.lua --budget 60s",
    },
    {
        .name = "submit",
        .words = "SPEC... -- [options of tune]",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .options = CLI_BIT(SHARDS) | CLI_BIT(ENGINE) | CLI_BIT(GRES) | CLI_BIT(TIME) |
                   CLI_BIT(HOSTS) | CLI_BIT(DRY_RUN),
        .run = cli_submit,
        .doc = "tune shares of the candidates as jobs of a cluster, then race the best",
        .details =
            "Writes scripts to the directory --store and submits them to Slurm: a job array, a\n"
            "task a share, each on one GPU and with a store of its own, and after it a job that\n"
            "merges the stores and runs the final heat. A task that was requeued goes on where it\n"
            "stopped. With --engine parallel GNU parallel runs the same on the hosts of a list.",
        .example = "submit my_kernel.lua --shards 8 --gres gpu:1 --store fleet -- --budget 1h",
    },
    {
        .name = "status",
        .words = "DIRECTORY",
        .min_words = 1,
        .max_words = 1,
        .run = cli_status,
        .doc = "how far the jobs of `submit` are",
        .details =
            "A line for each share, kernel and size: candidates that have an outcome, the best so\n"
            "far, when the last outcome came, and which node is slow by the candidates that all\n"
            "shares have. It reads the stores of the shares; the scheduler is not asked.",
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
        .doc = "a session as one page of HTML, with pictures and without a network",
        .details =
            "Runs a session as `tune` does, which only reads the store where it is complete, and\n"
            "writes a page: why the winner won, what its requests and those of the naive variant\n"
            "touch, its kernel with counts next to the lines, roofline, all candidates by time\n"
            "and sectors, and the best by each axis.",
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
        .doc = "the kernel header, for every device tuned",
        .details = "Writes the winners from the store with the naive kernel after them, a launch\n"
                   "function and where every figure comes from. With a spec file the store must\n"
                   "hold this very version of it; with a name the newest one is taken.",
        .example = "emit my_kernel.lua -o my_kernel.h",
    },
    {
        .name = "merge",
        .words = "OUT.db STORE.db...",
        .min_words = 2,
        .max_words = CLI_ANY_NUMBER,
        .run = cli_merge,
        .doc = "join stores into one; order and repetition do not matter",
        .details = "OUT.db is made, or extended where it exists. All or nothing. Where two stores\n"
                   "measured the same candidate, the latest measurement stands and the others\n"
                   "stay in addition, with their samples.",
        .example = "merge all.db node1.db node2.db",
    },
    {
        .name = "export",
        .words = "[NAME]",
        .max_words = 1,
        .options = CLI_BIT(FORMAT) | CLI_BIT(OUT) | CLI_BIT(SIZE) | CLI_BIT(DEVICE),
        .run = cli_export,
        .doc = "the store as JSON, or a run as other tuners' files",
        .details =
            "json is the whole store and reads back exactly. kernel-tuner (a cache file) and\n"
            "t4 (results of the auto-tuning association) hold one run: NAME, --size and\n"
            "--device say which, where there are several.",
        .example = "export -o results.json",
    },
    {
        .name = "import",
        .words = "FILE...",
        .min_words = 1,
        .max_words = CLI_ANY_NUMBER,
        .run = cli_import,
        .doc = "join exports, Kernel Tuner caches or T4 results to the store",
        .details = "What other programs measured becomes a problem of its own, such as\n"
                   "kernel-tuner:convolution, without a winner: no header is made of it. A file\n"
                   "that is malformed changes nothing, and the message says where.",
        .example = "import results.json",
    },
    {
        .name = "compare",
        .words = "A B",
        .min_words = 2,
        .max_words = 2,
        .options = CLI_BIT(SIZE) | CLI_BIT(TOP) | CLI_BIT(OUT),
        .run = cli_compare,
        .doc = "what became faster or slower between two stores or dates",
        .details = "A and B are store files, or name@date (UTC, also a part of it: name@2026-01)\n"
                   "for what the store knew of a kernel at the end of that time; name@ is now.\n"
                   "Every candidate of both gets a verdict: FAST (B is faster), SLOW, SAME or\n"
                   "AMBIGUOUS; of virtual devices by what is predicted. Other winners and other\n"
                   "conditions are named. --out writes a page with pictures, too.",
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
        .doc = "what the launches of any CUDA file do to memory",
        .details =
            "Compiles the file, runs the launches of --cases, or that of --kernel, on the CPU\n"
            "and counts requests, sectors and shared memory wavefronts as the profiler of a\n"
            "GPU does. Needs no GPU.\n"
            "With --coalescing of an older device the sectors are its transactions: of 32 to\n"
            "128 bytes on cc10 and cc12, loads of 128 bytes on cc20, 32 bytes elsewhere.\n"
            "A case that misbehaves is reported with its diagnosis, and the others still run.",
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
        .doc = "races, undefined values and bad accesses in the launches of any CUDA file",
        .details =
            "Runs launches as `count` does, and looks for races between threads, values that were\n"
            "never set, accesses out of bounds or misaligned, and barriers that not all threads\n"
            "reach. Says the line, the thread, and what came before: of a race the other access,\n"
            "of a value the load that brought it. Needs no GPU. Ends with 5 if it found some.\n"
            "With --limits, which --write-limits writes, it also holds sectors, wavefronts and\n"
            "registers to what they were: the same on every machine with the same compiler.",
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
            "Of a CUDA file the launches of --cases, or that of --kernel, as `count` has them; of "
            "a\n"
            "spec the candidate --pick at --size. Runs them on the CPU. Of each: the launch and "
            "what of it is\n"
            "resident on --device, accesses to global and shared memory, warps that are split,\n"
            "the worst lines, and issues with evidence, what to try, and how much it may save.\n"
            "Needs no GPU.",
        .example =
            "profile k.cu --kernel scale --grid 64 --block 256 --arg 'x=f32[16384]' --arg n=16384",
    },
    {
        .name = "doctor",
        .words = "",
        .options = CLI_BIT(DEVICE),
        .run = cli_doctor,
        .doc = "is everything there that tuning needs, and what to do if not",
        .details = "Driver, GPU, other users of it, NVRTC, store, cache, locks, limits, and one\n"
                   "kernel from spec to verdict. Lines say ok, warn or fail; ends with 0 if this\n"
                   "machine is usable. Needs neither a GPU nor a toolkit to say so.",
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
        .doc = "how fast copies to the device and back are, alone or with a spec's kernel",
        .details =
            "Times copies to the device, to the host and both at once, by size: from memory that\n"
            "is pageable, page-locked, write-combined, registered, mapped (zero copy) and managed\n"
            "with a prefetch; with two devices (--device cuda:0,cuda:1) from one to the other,\n"
            "too. Prints latency, rate and the size that reaches half of it, and stores all of\n"
            "it. A kind that the device or the driver refuses is named with the reason. Virtual\n"
            "devices have stated rates.\n"
            "With SPEC, which says `host = true`: tries ways for its arrays from the host through\n"
            "the kernel and back, in chunks on several streams or not, of page-locked and of\n"
            "pageable memory; prints them against the bound, with a timeline of the best.\n"
            "With two devices of one model the best ways are also tried with half on each.",
        .example = "transfer --device virtual:h200 --sizes 4K,1M,256M",
    },
    {
        .name = "init",
        .words = "[DIR]",
        .max_words = 1,
        .run = cli_init,
        .doc = "write a commented spec and layout to start from",
        .details = "Into the current directory, or DIR. Never overwrites a file.",
        .example = "init kernels",
    },
    {
        .name = "examples",
        .words = "[NAME]",
        .max_words = 1,
        .options = CLI_BIT(OUT),
        .run = cli_examples,
        .doc = "the worked specs that are built in",
        .details =
            "Lists them; with NAME prints one; with -o writes it into a directory (without NAME\n"
            "all of them). Never overwrites a file.",
        .example = "examples transpose_f32 -o .",
    },
    {
        .name = "generate",
        .words = "KIND",
        .min_words = 1,
        .max_words = 1,
        .run = cli_generate,
        .doc = "the man page, completions for a shell, definitions for editors",
        .details = "KIND is man, bash, zsh or fish, or lua: what specs and layouts may say, for\n"
                   "editors with lua-language-server. Prints the text.",
        .example = "generate bash",
    },
};
const int cli_n_commands = SCT_COUNT(cli_commands);
