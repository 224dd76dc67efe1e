"""The kernels of the worked specs (tuning/kernels). A spec with parameters names several:

  -- kernel record12_soa_to_aos: fields=3 from=soa to=aos

One without such lines has one, of its own name. tests/worked.h reads them too.
"""
import glob
import os
import re

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tuning", "kernels")


def kernels(folder=FOLDER):
    """{name of a kernel: (path of its spec, ["fields=3", ...])}, sorted by name"""
    found = {}
    for path in glob.glob(os.path.join(glob.escape(folder), "*.lua")):
        with open(path, encoding="utf-8") as f:
            lines = re.findall(r"^-- kernel (\w+):? ?(.*)$", f.read(), re.MULTILINE)
        for name, params in lines or [(os.path.basename(path)[:-4], "")]:
            found[name] = path, params.split()
    return dict(sorted(found.items()))


def find(name, folders):
    """(path, params) of the kernel in the first of the folders that has it, or None"""
    return next((found[name] for found in map(kernels, folders) if name in found), None)


def options(params):
    """of sectile, as in ["-p", "fields=3"]"""
    return [word for param in params for word in ("-p", param)]


def with_params(text, params):
    """the text of a spec with these values as defaults in `s.params { fields = 7, to = "aos" }`"""
    for name, value in (param.split("=", 1) for param in params):
        text, n = re.subn(rf'(s\.params \{{.*?\b{name} = )("?)[^",}} ]*\2', rf"\g<1>\g<2>{value}\g<2>", text, count=1)
        if n != 1:
            raise ValueError(f"the spec has no parameter '{name}'")
    return text
