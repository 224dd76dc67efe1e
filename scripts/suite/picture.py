"""The picture of the README: bandwidth of six kernels of docs/figures/suite.json and of what people use for them.

  python3 scripts/suite/picture.py      writes docs/figures/suite_light.svg and suite_dark.svg
"""
import json
import os
from xml.sax.saxutils import escape

FIGURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "figures")
PICKED = (  # one row of each kind of work, with its title
    ("transpose_f32_16384", "Transpose, f32, 16384 x 16384"),
    ("permute_210_odd", "Permute (i, j, k) to (k, j, i), f32, 511 x 513 x 509"),
    ("soa_aos_28", "Structure of arrays to records of 28 bytes"),
    ("aos_soa_28", "Records of 28 bytes to structure of arrays"),
    ("gather_rows_256", "Gather of rows of 256 bytes, random order"),
    ("stencil3d", "3D stencil, 7 points, f32, 512 x 512 x 512"),
)
LIBRARIES = ("cub::", "thrust::", "cuBLAS")
THEMES = {
    "light": {"text": "#1f2328", "quiet": "#59636e", "line": "#8c959f", "ours": "#0969da", "theirs": "#afb8c1"},
    "dark": {"text": "#f0f6fc", "quiet": "#9198a1", "line": "#6e7681", "ours": "#4493f8", "theirs": "#484f58"},
}
PANEL, NAME, BAR, ROW, HEAD = 430, 122, 245, 17, 30  # pixels: a panel, names, the longest bar, a bar's row, a title
MOST = 4500.0  # GB/s of the longest bar


def bars(row):
    """(name, useful GB/s) of what was timed, ours first"""
    def rate(entry):
        return row["useful_bytes"] / entry["median_ns"]

    def fastest(wanted):
        rates = [rate(p) for p in row["peers"] if p.get("median_ns") and wanted(p["peer"])]
        return max(rates) if rates else None

    found = [("Sectile", rate(row["winner"])),
             ("torch.compile", fastest(lambda name: name == "torch.compile")),
             ("Triton", fastest(lambda name: name == "Triton")),
             ("CUB/Thrust/cuBLAS", fastest(lambda name: name.startswith(LIBRARIES))),
             ("PyTorch", fastest(lambda name: name.startswith("PyTorch"))),
             ("naive CUDA", rate(row["naive"]))]
    return [(name, value) for name, value in found if value]


def panel(row, title, colors, left, top):
    out = [f'<text x="{left}" y="{top + 16}" font-weight="600">{escape(title)}</text>']
    found = bars(row)
    for n, (name, value) in enumerate(found):
        y, width = top + HEAD + n * ROW, value / MOST * BAR
        ours = n == 0
        weight = ' font-weight="600"' if ours else f' fill="{colors["quiet"]}"'
        out += [f'<text x="{left + NAME - 8}" y="{y + 10}" text-anchor="end" font-size="12"{weight}>{name}</text>',
                f'<rect x="{left + NAME}" y="{y}" width="{width:.1f}" height="12" rx="2" '
                f'fill="{colors["ours" if ours else "theirs"]}"/>',
                f'<text x="{left + NAME + BAR + 40}" y="{y + 10}" text-anchor="end" font-size="12"{weight}>{value:.0f}</text>']
    copy = left + NAME + found[0][1] / row["share"] / MOST * BAR
    bottom = top + HEAD + len(found) * ROW
    out.append(f'<path d="M{copy:.1f} {top + HEAD - 4}V{bottom}" stroke="{colors["line"]}" stroke-dasharray="3 3"/>')
    return out


def draw(doc, colors):
    """the text of an SVG"""
    rows = {r["row"]: r for r in doc["rows"]}
    heights = [HEAD + ROW * len(bars(rows[name])) + 16 for name, _ in PICKED]
    out, top = [], 34
    for n in range(0, len(PICKED), 2):
        for column in range(2):
            name, title = PICKED[n + column]
            out += panel(rows[name], title, colors, 10 + column * (PANEL + 10), top)
        top += max(heights[n:n + 2])
    head = (f'<text x="10" y="18" fill="{colors["quiet"]}" font-size="12.5">GB/s on one {escape(doc["device"])}, higher is better. '
            "Dashed: a plain copy of as many bytes.</text>")
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * PANEL + 30}" height="{top}" '
         f'viewBox="0 0 {2 * PANEL + 30} {top}" font-family="-apple-system, Segoe UI, Helvetica, Arial, sans-serif" '
         f'font-size="13.5" fill="{colors["text"]}" role="img">',
         f'<title>Bandwidth of six kernels on one {escape(doc["device"])}, {doc["date"]}</title>', head] + out + ["</svg>", ""])


def write(doc, folder=FIGURES):
    for theme, colors in THEMES.items():
        with open(os.path.join(folder, f"suite_{theme}.svg"), "w", encoding="utf-8") as f:
            f.write(draw(doc, colors))


if __name__ == "__main__":
    with open(os.path.join(FIGURES, "suite.json"), encoding="utf-8") as data:
        write(json.load(data))
