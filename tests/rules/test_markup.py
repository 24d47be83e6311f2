"""What builds pages escapes whatever it is given, and its colours can be read."""

from html.parser import HTMLParser
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roadstead.explain.markup import document, element, raw
from roadstead.explain.palette import DARK, LIGHT

ANY = st.text(st.characters(exclude_categories=["Cs"]))
EVIL = ('"><script>alert(1)</script>', "</style>", "' onload='x", "<!--", "&lt;b&gt;")


class Read(HTMLParser):
    """What a browser makes of a document."""

    def __init__(self, text: str) -> None:
        """Read it."""
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.text += data


@given(ANY | st.sampled_from(EVIL), ANY | st.sampled_from(EVIL))
def test_a_text_stays_a_text(text: str, value: str) -> None:
    """In an element and in an attribute, whatever it holds."""
    read = Read(element("p", text, title=value))
    kept = [letter for letter in text if letter.isprintable()]
    assert ["p"] == [tag for tag, _ in read.tags]
    assert {"title"} == set(read.tags[0][1])
    assert "\x00" not in read.text
    assert [letter for letter in read.text if letter.isprintable() and letter != "•"] == [
        letter for letter in kept if letter != "•"
    ] or "\N{REPLACEMENT CHARACTER}" in read.text


@pytest.mark.parametrize("evil", EVIL)
def test_markup_is_only_what_was_built(evil: str) -> None:
    """Parts within parts keep what they are."""
    read = Read(document(evil, [element("link", href=evil)], [element("b", evil), evil]))
    assert ["html", "head", "meta", "meta", "title", "link", "body", "b"] == [
        tag for tag, _ in read.tags
    ]


def test_a_script_of_ours_cannot_end_itself() -> None:
    """What is put into it as it stands must stay in it."""
    with pytest.raises(ValueError, match="script"):
        raw("script", "x = '</SCRIPT>'")
    with pytest.raises(ValueError, match="div"):
        raw("div", "x")


def test_attributes_may_stand_alone_or_be_left_out() -> None:
    """True, None and False; an underscore for what Python cannot spell."""
    made = element("input", class_="a", hidden=True, checked=False, value=None, aria_label="x")
    assert made == '<input class="a" hidden aria-label="x">'


def luminance(colour: str) -> float:
    """Relative luminance. Source: WCAG 2.1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """From 1 to 21. Source: WCAG 2.1, 1.4.3."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_can_be_read_on_every_ground(colours: dict[str, str]) -> None:
    """AA: 4.5 for text; 3 for the lines of a drawing and the ring of a focus."""
    for text, ground in product(("ink", "soft", "link", "good", "warn", "bad"), ("paper", "box")):
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for line, ground in product(("line", "focus"), ("paper", "box")):
        assert contrast(colours[line], colours[ground]) >= 3, (line, ground)


def test_contrast_is_counted_as_the_standard_has_it() -> None:
    """Black on white, and a pair whose value is published."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
