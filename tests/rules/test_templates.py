"""The template subset, row by row against what Go's text/template answers."""

import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roadstead.kube.templates import TemplateError, render

VARIABLES = {"name": "mydb", "kind": "postgres", "namespace": "tenant-foo", "release": "é"}


@pytest.mark.parametrize(
    ("outcome", "template"),
    [
        ("", ""),
        ("plain }} text { {", "plain }} text { {"),
        ("mydb", "{{ .name }}"),
        ("mydb", "{{.name}}"),
        ("mydb", "{{\t.name\n}}"),
        ("postgres-mydb-ca", "{{ .kind }}-{{ .name }}-ca"),
        ("<no value>", "{{ .nothing }}"),
        ("<no value>-ca", "{{ .Name }}-ca"),
        ("amydbb", "a \n{{- .name -}}\t b"),
        ("a mydbb", "a {{ .name -}} b"),
        ("amydb b", "a {{- .name }} b"),
        ("a-3b", "a{{-3}}b"),
        ("a3b", "a {{- 3 -}} b"),
        ("-3", "{{ -3 }}"),
        ("7", "{{ +7 }}"),
        ("text", '{{ "text" }}'),
        ("}}", '{{ "}}" }}'),
        ("}}", "{{ `}}` }}"),
        ('a"b\\\t', r'{{ "a\"b\\\t" }}'),
        (r"a\n", r"{{ `a\n` }}"),
        ("a\nb", "{{ `a\r\nb` }}"),
        ("Aé\U0001f600A", r'{{ "\x41\u00e9\U0001F600\101" }}'),
        ("é", r'{{ "\xc3\xa9" }}'),
        ("foo-ingress-controller", "{{ slice .namespace 7 }}-ingress-controller"),
        ("tenant", "{{ slice .namespace 0 6 }}"),
        ("tenant-foo", "{{ slice .namespace }}"),
        ("", "{{ slice .namespace 10 }}"),
        ("é", "{{ slice .release 0 2 }}"),
        ("2", "{{ len .release }}"),
        ("109", "{{ index .name 0 }}"),
        ("mydb", "{{ index .name }}"),
        ("foo", "{{ 7 | slice .namespace }}"),
        ("4", "{{ .name | len }}"),
        ("4", "{{.name|len}}"),
        ("mydb-ca", '{{ .name | printf "%s-ca" }}'),
        ("mydb-5-é%", '{{ printf "%s-%d-%v%%" .name 5 .release }}'),
        ("5", '{{ printf "%v" 5 }}'),
        ("3", '{{ printf "%d" 3 | printf "%s" }}'),
        (r'"a\"\\\n\x01\x7fé\u00a0\xff"', r'{{ printf "%q" "a\"\\\n\x01\x7fé\u00a0\xff" }}'),
        ('"\U0001f600\\U000e0001"', r'{{ printf "%q" "\U0001F600\U000e0001" }}'),
        ("%!s(<nil>)", '{{ printf "%s" .nothing }}'),
        ("<nil>", '{{ printf "%v" .nothing }}'),
        ("mydb", '{{ printf "%s" .name | printf "%v" | printf "%s" }}'),
    ],
)
def test_a_template_renders_as_in_go(outcome: str, template: str) -> None:
    """A name that is rendered otherwise selects another Secret, or none."""
    assert outcome == render(template, VARIABLES, strict=False)


@pytest.mark.parametrize(
    ("why", "template"),
    [
        ("the action at offset 0 is not closed", "{{ .release"),
        ("the action at offset 2 is not closed", "a {{"),
        ("the string at offset 3 is not closed", '{{ "a }}'),
        ("the string at offset 3 is not closed", '{{ "a\n" }}'),
        ("the string at offset 3 is not closed", "{{ `a }}"),
        ("a value is missing at offset 2", "{{}}"),
        ("a value is missing at offset 2", "{{ }}"),
        ("a value is missing at offset 9", "{{ .name | }}"),
        ("a value is missing at offset 2", "{{ | len }}"),
        ("a value is missing at offset 9", "{{ .name || len }}"),
        ("a blank is missing at offset 8", '{{ .name"x" }}'),
        ("a blank is missing at offset 8", "{{ .name.first }}"),
        ("unsupported syntax at offset 3", "{{ . }}"),
        ("unsupported syntax at offset 3", "{{ $x }}"),
        ("unsupported syntax at offset 3", "{{ (len .name) }}"),
        ("unsupported syntax at offset 2", "{{/* comment */}}"),
        ("unsupported syntax at offset 3", "{{ 'a' }}"),
        ("unsupported syntax at offset 4", "{{ 1.5 }}"),
        ("unsupported syntax at offset 8", "{{ .name} }}"),
        ("unsupported syntax at offset 2", "{{-}}"),
        ("a blank is missing at offset 4", "{{ 010 }}"),
        ("a blank is missing at offset 4", "{{ 0x1 }}"),
        ("unknown function 'if' at offset 3", "{{ if .name }}a{{ end }}"),
        ("unknown function 'lower' at offset 3", "{{ lower .name }}"),
        ("unknown function 'nil' at offset 3", "{{ nil }}"),
        ("only a function takes arguments, at offset 3", "{{ .name 1 }}"),
        ("only a function takes arguments, at offset 11", "{{ .name | .kind }}"),
        ("only a function takes arguments, at offset 3", '{{ "a" "b" }}'),
        ("a function cannot be an argument, at offset 3", "{{ printf len }}"),
        ("the number at offset 3 is out of range", "{{ 9223372036854775808 }}"),
        ("the number at offset 3 is out of range", "{{ 1" + "0" * 5000 + " }}"),
        ("the string at offset 3 holds an unknown escape", r'{{ "\z" }}'),
        ("the string at offset 3 holds an unknown escape", r'{{ "\xg0" }}'),
        ("the string at offset 3 holds an unknown escape", r'{{ "\ud800" }}'),
        ("the string at offset 3 holds an unknown escape", r'{{ "\U00110000" }}'),
        ("slice is out of range at offset 3", "{{ slice .name 5 }}"),
        ("slice is out of range at offset 3", "{{ slice .name -1 }}"),
        ("slice is out of range at offset 3", "{{ slice .name 2 1 }}"),
        ("slice is out of range at offset 3", "{{ slice .name 0 5 }}"),
        ("slice takes at most two numbers, at offset 3", "{{ slice .name 0 1 2 }}"),
        ("slice needs a string, at offset 3", "{{ slice }}"),
        ("slice needs a string, at offset 3", "{{ slice .nothing 1 }}"),
        ("slice takes whole numbers, at offset 3", "{{ slice .name .kind }}"),
        ("index is out of range at offset 3", "{{ index .name 4 }}"),
        ("index takes one number, at offset 3", "{{ index .name 1 1 }}"),
        ("index needs a string, at offset 3", "{{ index 1 1 }}"),
        ("len needs a string, at offset 3", "{{ len }}"),
        ("len needs a string, at offset 3", "{{ len 3 }}"),
        ("len takes one string, at offset 3", "{{ len .name 3 }}"),
        ("printf needs a format, at offset 3", "{{ printf }}"),
        ("printf needs a format, at offset 3", "{{ printf 3 }}"),
        ("printf has fewer values than verbs, at offset 3", '{{ printf "%s" }}'),
        ("printf has more values than verbs, at offset 3", '{{ printf "a" .name }}'),
        ("printf: %d does not fit its value, at offset 3", '{{ printf "%d" .name }}'),
        ("printf: %s does not fit its value, at offset 3", '{{ printf "%s" 3 }}'),
        ("printf knows %s, %d, %v and %q only, at offset 3", '{{ printf "%x" 3 }}'),
        ("printf knows %s, %d, %v and %q only, at offset 3", '{{ printf "%05d" 3 }}'),
        ("printf knows %s, %d, %v and %q only, at offset 3", '{{ printf "a%" }}'),
        ("the outcome is not UTF-8: a character was cut", "{{ slice .release 1 }}"),
        ("the outcome is not UTF-8: a character was cut", "\ud800"),
        ("the template is longer than 8192 characters", "a" * 8193),
        ("the outcome is longer than 65536 bytes", "{{ .name }}" * 700 + "{{ .long }}"),
        ("the outcome is longer than 65536 bytes", '{{ printf "%s%s" .long .long }}'),
    ],
)
def test_what_the_subset_lacks_is_an_error_with_its_offset(why: str, template: str) -> None:
    """A construct that were passed through would become part of a name."""
    with pytest.raises(TemplateError) as caught:
        render(template, {**VARIABLES, "long": "x" * 65_000}, strict=False)
    assert why == caught.value.message


@pytest.mark.parametrize("template", ["{{ .nothing }}", "a{{ len .nothing }}"])
def test_an_unknown_variable_is_an_error_when_strict(template: str) -> None:
    """`<no value>` must not become the name of a CA Secret; trust-anchors 4.2."""
    with pytest.raises(TemplateError) as caught:
        render(template, VARIABLES, strict=True)
    assert "unknown variable .nothing" in caught.value.message
    assert caught.value.hint == "known are .kind, .name, .namespace, .release"


def test_a_known_variable_is_none_when_strict() -> None:
    """The default engine table must render."""
    assert render("{{ .release }}-ca", {"release": "postgres-mydb"}, strict=True) == (
        "postgres-mydb-ca"
    )


PIECES = st.sampled_from(
    ("{{", "}}", "{{- ", " -}}", " ", ".name", ".x", '"', "`", "\\", "slice", "printf", "%s", "%q")
) | st.sampled_from(
    ("len", "index", "|", "1", "-1", "99", "-", "(", "\ud800", "é", "\n", "\\x", "\\u12")
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=14).map("".join), st.text(), st.booleans())
def test_any_template_renders_or_is_refused(template: str, name: str, strict: bool) -> None:
    """A definition is written by people; no slip of theirs may stop the webhook."""
    with contextlib.suppress(TemplateError):
        assert isinstance(render(template, {"name": name}, strict=strict), str)


@pytest.mark.parametrize(
    "template",
    [
        "{{" * 4096,
        "{{ " + "| " * 4000,
        '{{ "' + "\\" * 8000,
        "{{ .a" + ' | printf "%s%s%s%s" .a .a .a' * 250 + " }}",
        "{{ slice" + " 1" * 4000 + " }}",
        "{{ .a }}" * 1000,
    ],
)
def test_a_hostile_template_costs_little(template: str) -> None:
    """Templates are rendered inside an admission request of a few seconds."""
    before = time.monotonic()
    with pytest.raises(TemplateError):
        render(template, {"a": "x" * 253}, strict=True)
    assert time.monotonic() - before < 1
