"""The colours of every page and drawing, light and dark, as one table that a test reads.

Each pair of text and ground keeps the contrast of WCAG 2.1 AA: 4.5 for text, 3 for lines.
"""

LIGHT = {
    "paper": "#ffffff",
    "box": "#f6f8fa",
    "ink": "#1b1f24",
    "soft": "#545d68",
    "line": "#6e7781",
    "faint": "#d8dee4",
    "link": "#0a58ca",
    "good": "#116329",
    "warn": "#7a4d00",
    "bad": "#a40e26",
    "focus": "#0a58ca",
}
DARK = {
    "paper": "#0f1419",
    "box": "#1a2129",
    "ink": "#e6edf3",
    "soft": "#a5b0bb",
    "line": "#8b96a1",
    "faint": "#30363d",
    "link": "#79b8ff",
    "good": "#7ee2a0",
    "warn": "#f0c062",
    "bad": "#ff9a9a",
    "focus": "#79b8ff",
}
"""What each is for: paper and box are grounds, faint only parts rows, focus rings a field; the
rest are texts, and line is what carries a meaning in a drawing."""


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


PALETTE = (
    f":root {{ color-scheme: light dark; {_declared(LIGHT)} }}\n"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {_declared(DARK)} }} }}\n"
    f"@media print {{ :root {{ color-scheme: light; {_declared(LIGHT)} }} }}\n"
)
"""Declared for a style sheet."""
