{{- define "roadstead-crds.annotations" -}}
{{- $stated := dict "roadstead.dev/crd-revision" "2" }}
{{- if .Values.keep }}{{ $_ := set $stated "helm.sh/resource-policy" "keep" }}{{ end }}
{{- toJson $stated }}
{{- end }}
