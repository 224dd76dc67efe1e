-- Our own standard for every Lua file of the project: layouts, strategies, specs, scripts.
std = "lua54"
max_line_length = false -- scripts/check_length holds lines to 100 columns
-- what strategies and the generator's own files see beside the standard library (script_strategy.c)
files["tuning/strategies/*.lua"].read_globals =
  {
    "E", "reads", "kit", "strides", "modes", "reduce", "records", "cuda", "halo",
    "sides", "spread", "both", "thin", "across", "aligned", "staging", "accumulate", "boxes",
    "row_streams",
  }
files["tuning/sectile/*.lua"].read_globals =
  {
    "E", "reads", "kit", "strides", "modes", "reduce", "records", "cuda", "halo",
    "sides", "spread", "both", "thin", "across", "aligned", "staging", "accumulate", "boxes",
    "row_streams",
  }
files["tests/faults/assets/tuning/strategies/*.lua"].read_globals = { "E", "kit", "cuda" }
files["tests/gpu/poison/strategies/*.lua"].read_globals = { "kit", "cuda" }
files["tests/codegen/modes/*.lua"].read_globals = { "E", "cuda", "reads" }
