{{- /* The image: the digest wins, then the tag, then the version of this chart's program. */}}
{{- define "roadstead.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}
{{- else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{- /* What the processes read: the flags for all and, where there is one, the engine table. */}}
{{- define "roadstead.configuration" -}}
{{- $settings := deepCopy .Values.settings }}
{{- $files := dict }}
{{- if kindIs "map" .Values.caSources }}
{{- $_ := set $settings "caSourcesFile" "ca-sources.yaml" }}
{{- $_ := set $files "ca-sources.yaml" (toYaml .Values.caSources) }}
{{- end }}
{{- $_ := set $files "settings.yaml" (toYaml $settings) }}
{{- toJson $files }}
{{- end }}

{{- /* Whom cert-manager gives its bundle; nobody with a certificate of your own. */}}
{{- define "roadstead.injection" -}}
{{- if .Values.webhook.issue }}
{{- dict "cert-manager.io/inject-ca-from" (printf "%s/lineage-controller-webhook" .Release.Namespace) | toJson }}
{{- else }}{}{{ end }}
{{- end }}

{{- /* Where the API server asks. */}}
{{- define "roadstead.client" -}}
{{- $service := dict "name" "lineage-controller-webhook" "namespace" .Release.Namespace "path" "/mutate-lineage" "port" 443 }}
{{- $client := dict "service" $service }}
{{- if not .Values.webhook.issue }}
{{- $_ := set $client "caBundle" (required "webhook.caBundle: name the bundle of your certificate, in base64, or leave webhook.issue on" .Values.webhook.caBundle) }}
{{- end }}
{{- toJson $client }}
{{- end }}

{{- /* What would go wrong later, said now. A render without a cluster finds nothing to look at. */}}
{{- define "roadstead.checks" -}}
{{- if lookup "v1" "Namespace" "" "kube-system" }}
{{- include "roadstead.namespace" . }}
{{- include "roadstead.definitions" . }}
{{- include "roadstead.registration" . }}
{{- end }}
{{- end }}

{{- /* Our own Pods must start while the webhook is away. */}}
{{- define "roadstead.namespace" -}}
{{- $space := lookup "v1" "Namespace" "" .Release.Namespace | default dict }}
{{- if ne (dig "metadata" "labels" "cozystack.io/system" "" $space) "true" }}
{{- fail (printf "namespace %s lacks the label cozystack.io/system=true, so the webhook could keep its own Pods from starting; hint: kubectl create namespace %s; kubectl label namespace %s cozystack.io/system=true" .Release.Namespace .Release.Namespace .Release.Namespace) }}
{{- end }}
{{- end }}

{{- /* An older definition prunes fields that the program writes. */}}
{{- define "roadstead.definitions" -}}
{{- $needed := index .Chart.Annotations "roadstead.dev/crd-revision" }}
{{- range list "endpointattachments.local.sdn.cozystack.io" "tenantgateways.gateway.cozystack.io" }}
{{- with lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" . }}
{{- $served := dig "metadata" "annotations" "roadstead.dev/crd-revision" "1" . }}
{{- if lt (int $served) (int $needed) }}
{{- fail (printf "CustomResourceDefinition %s is served at revision %s and this version needs %s; hint: upgrade the chart roadstead-crds first" .metadata.name $served $needed) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Its failure policy is Fail: from then on writes in tenants' namespaces wait for the Pods. */}}
{{- define "roadstead.registration" -}}
{{- if and .Values.lineage.enabled .Values.webhook.register }}
{{- if not (lookup "admissionregistration.k8s.io/v1" "MutatingWebhookConfiguration" "" "lineage") }}
{{- $found := lookup "apps/v1" "Deployment" .Release.Namespace "roadstead-lineage" | default dict }}
{{- if lt (int (dig "status" "availableReplicas" 0 $found)) 1 }}
{{- fail "webhook.register: no Pod of Deployment roadstead-lineage is available, and writes in tenants' namespaces would be refused; hint: install with webhook.register=false first, and upgrade once it is available" }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
