"""The Helm charts: `roadstead`, and `roadstead-crds` for the definitions.

Templates are the tables of `bundle` with their holes as actions; by hand are `_helpers.tpl`, what
a values file cannot say by itself, and the notes. The definitions are templates of a chart of
their own, since Helm never upgrades what lies in a chart's folder `crds`.
"""

import json
import re
from importlib.resources import files
from typing import Any

from roadstead import __version__
from roadstead.deploy.bundle import Part, parts
from roadstead.deploy.crds import REVISION, REVISION_ANNOTATION, crds
from roadstead.deploy.holes import ANY_HOME, Hole, template
from roadstead.deploy.monitoring.objects import DASHBOARD_FILE, dashboard_text
from roadstead.deploy.values import values_schema, values_yaml
from roadstead.kube.documents import dump

Json = dict[str, Any]
MAIN, CRDS = "roadstead", "roadstead-crds"
KUBERNETES = ">=1.32.0-0"
PLATFORMS = "applicationdefinitions.cozystack.io.yaml"
"""The file of the definition that is the platform's, and is installed on request alone."""
KEEP = "helm.sh/resource-policy"
CHECKS = '{{- include "roadstead.checks" . }}\n'
_ANNOTATIONS = """\
{{- define "roadstead-crds.annotations" -}}
{{- $stated := dict "%s" "%s" }}
{{- if .Values.keep }}{{ $_ := set $stated "helm.sh/resource-policy" "keep" }}{{ end }}
{{- toJson $stated }}
{{- end }}
"""
_CRD_VALUES = """\
# Leave the definitions, and every object of their kinds, where they are when the release goes.
keep: true
# Install the platform's ApplicationDefinition as well: for clusters without the platform alone.
applicationDefinition: false
"""


def main_chart() -> dict[str, str]:
    """The files of the chart, by their path below its folder."""
    own = files(__package__)
    found = {
        "Chart.yaml": dump([_about(MAIN, "Controllers and admission for platforms of tenants")]),
        "values.yaml": values_yaml(),
        "values.schema.json": _json(values_schema()),
        DASHBOARD_FILE: dashboard_text(),
        "templates/_helpers.tpl": (own / "_helpers.tpl").read_text(encoding="utf-8"),
        "templates/NOTES.txt": (own / "NOTES.txt").read_text(encoding="utf-8"),
        "templates/checks.yaml": CHECKS,
    }
    return found | {f"templates/{one.name}.yaml": _template(one) for one in parts(ANY_HOME)}


def crds_chart() -> dict[str, str]:
    """The files of the chart of the definitions."""
    switch = {"type": "boolean"}
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "keep": switch,
            "applicationDefinition": switch,
            "global": {"type": "object"},
        },
        "additionalProperties": False,
    }
    found = {
        "Chart.yaml": dump([_about(CRDS, "CustomResourceDefinitions of Roadstead")]),
        "values.yaml": _CRD_VALUES,
        "values.schema.json": _json(schema),
        "templates/_helpers.tpl": _ANNOTATIONS % (REVISION_ANNOTATION, REVISION),
    }
    for name, body in crds().items():
        meta = body["metadata"]
        meta["annotations"] = Hole(
            '(include "roadstead-crds.annotations" . | fromJson)', meta["annotations"]
        )
        when = ".Values.applicationDefinition" if name == PLATFORMS else ""
        found[f"templates/{name}"] = _template(Part(name, (body,), when))
    return found


def chart_version(version: str) -> str:
    """Say our version as a chart has to: `0.2.0.dev0` and `0.2.0rc1` are `0.2.0-dev.0`, `-rc.1`.

    Source: PEP 440; Semantic Versioning 2, which Helm demands.
    """
    return re.sub(r"\.?(dev|rc)(\d+)$", r"-\1.\2", version)


def _about(name: str, description: str) -> Json:
    return {
        "apiVersion": "v2",
        "name": name,
        "description": description,
        "type": "application",
        "version": chart_version(__version__),
        "appVersion": __version__,
        "kubeVersion": KUBERNETES,
        "annotations": {REVISION_ANNOTATION: str(REVISION)},
    }


def _template(part: Part) -> str:
    text = template(part.objects)
    return f"{{{{- if {part.when} }}}}\n{text}{{{{- end }}}}\n" if part.when else text


def _json(value: Json) -> str:
    return json.dumps(value, indent=2) + "\n"
