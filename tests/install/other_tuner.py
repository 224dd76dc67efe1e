"""What Kernel Tuner itself makes of an exported cache, and a cache that it writes.

   other_tuner.py simulate CACHE OUT    searches CACHE in simulation mode and stores T4 results
   other_tuner.py write CACHE           three configurations, of which two failed, left open
   other_tuner.py validate T4           against Kernel Tuner's schema of T4 results
"""
import json
import sys
import warnings
from types import SimpleNamespace as Options

warnings.simplefilter("ignore")
import jsonschema
import kernel_tuner
from kernel_tuner import file_utils, util


def simulate(cache, out):
    with open(cache) as file:
        run = json.load(file)
    names = run["tune_params_keys"]

    def measured(p):
        return ",".join(str(p[n]) for n in names) in run["cache"]

    def tune(strategy, **options):
        return kernel_tuner.tune_kernel(
            run["kernel_name"], "", run["problem_size"], [], run["tune_params"],
            restrictions=[measured], cache=cache, simulation_mode=True, strategy=strategy,
            strategy_options=options, lang="CUDA", quiet=True)

    results, env = tune("brute_force")
    failed = sum("__error__" in result for result in results)
    best = min(result["time"] for result in results if "__error__" not in result)
    assert len(results) == len(run["cache"]), len(results)
    assert abs(env["best_config"]["time"] - best) < 1e-12, env
    total = env["total_benchmark_time"]
    spent = sum(len(c["times"]) * c["time"] for c in run["cache"].values() if "times" in c)
    assert total >= spent * 0.999, (total, spent)
    few, _ = tune("random_sample", max_fevals=5)
    assert len(few) == 5, len(few)
    some, _ = tune("random_sample", time_limit=1)  # s; wants all times of each configuration
    assert some, "nothing in a second"
    file_utils.store_output_file(out, results, run["tune_params"])
    validate(out)
    print(f"{len(results)} results, {failed} failed")


def write(cache):
    params = {"block_size_x": [32, 64, 128], "mode": ["a", "-"]}
    device = Options(name="NVIDIA A100")
    runner = Options(get_device_info=lambda: device, simulation_mode=False)
    kernel = Options(kernel_name="copied", problem_size=(4096, 1024))
    tuning = Options(tune_params=params, simulation_mode=False, objective="time")
    known = util.process_cache(cache, kernel, tuning, runner)
    good = {"block_size_x": 32, "mode": "a", "time": 0.5, "times": [0.25, 0.75],
            "compile_time": 90.0, "verification_time": 0, "benchmark_time": 1.0, "GFLOP/s": 12.0,
            "timestamp": "2026-01-01T00:00:00+00:00"}
    util.store_cache("32,a", good, cache, known)
    for block, error in ((64, util.CompilationFailedConfig()), (128, util.RuntimeFailedConfig())):
        bad = {"block_size_x": block, "mode": "-", "__error__": error}
        util.store_cache(f"{block},-", bad, cache, known)


def validate(results):
    with open(results) as file:
        jsonschema.validate(json.load(file), file_utils.output_file_schema("results")[1])


if __name__ == "__main__":
    {"simulate": simulate, "write": write, "validate": validate}[sys.argv[1]](*sys.argv[2:])
