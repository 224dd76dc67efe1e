-- Our own standard for every Lua file of the project: layouts, strategies, specs, scripts.
std = "lua54"
max_line_length = 100
