"""The plot of modelled against measured times: SVG, both axes logarithmic."""

import html
import math

SIZE, MARGIN = 640, 60
COLOURS = {"fit": "#4477aa", "test": "#cc6633"}


def svg(results):
    """results: [{name, half, measured_us, modelled_us}]"""
    times = [r[key] for r in results for key in ("measured_us", "modelled_us")]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    span = SIZE - 2 * MARGIN

    def x(us):
        return MARGIN + span * (math.log10(us) - low) / (high - low)

    def y(us):
        return SIZE - x(us)

    def line(x1, y1, x2, y2, style):
        return f'<line x1="{x(x1):.1f}" y1="{y(y1):.1f}" x2="{x(x2):.1f}" y2="{y(y2):.1f}" {style}/>'

    def text(at_x, at_y, words, anchor="middle", more=""):
        return f'<text x="{at_x:.1f}" y="{at_y:.1f}" text-anchor="{anchor}" {more}>{html.escape(words)}</text>'

    least, most = 10.0 ** low, 10.0 ** high
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" font-family="sans-serif" font-size="12">',
             f'<rect width="{SIZE}" height="{SIZE}" fill="white"/>']
    for power in range(low, high + 1):
        at = 10.0 ** power
        words = f"{at:g} us" if power < 3 else f"{at / 1e3:g} ms"
        parts += [line(at, least, at, most, 'stroke="#dddddd"'), line(least, at, most, at, 'stroke="#dddddd"'),
                  text(x(at), SIZE - MARGIN + 18, words), text(MARGIN - 6, y(at) + 4, words, "end")]
    parts.append(line(least, least, most, most, 'stroke="#555555"'))
    for factor in (1.5, 1 / 1.5):
        a, b = max(least, least / factor), min(most, most / factor)
        parts.append(line(a, a * factor, b, b * factor, 'stroke="#999999" stroke-dasharray="4 4"'))
    for r in results:
        parts.append(f'<circle cx="{x(r["measured_us"]):.1f}" cy="{y(r["modelled_us"]):.1f}" r="4" '
                     f'fill="{COLOURS[r["half"]]}" fill-opacity="0.7"><title>{html.escape(r["name"])} '
                     f'{r["modelled_us"] / r["measured_us"]:.2f}</title></circle>')
    for i, half in enumerate(h for h in COLOURS if any(r["half"] == h for r in results)):
        parts += [f'<circle cx="{MARGIN + 14}" cy="{MARGIN + 14 + 18 * i}" r="4" fill="{COLOURS[half]}"/>',
                  text(MARGIN + 24, MARGIN + 18 + 18 * i, half, "start")]
    parts += [text(SIZE / 2, SIZE - 14, "measured"),
              text(16, SIZE / 2, "modelled", "middle", f'transform="rotate(-90 16 {SIZE / 2:.0f})"'),
              text(SIZE / 2, MARGIN - 20, "Time on an H100 SXM; dashed: 1.5 times off"), "</svg>"]
    return "\n".join(parts) + "\n"
