{{- define "operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* The prefix of every name. If the name of the release contains the name of the chart, it is the name of the release. */}}
{{- define "operator.fullname" -}}
{{- $name := include "operator.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The Deployment selects its pods by these labels, so they must never change. */}}
{{- define "operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "operator.name" . }}
control-plane: controller-manager
{{- end }}

{{- define "operator.labels" -}}
app.kubernetes.io/name: {{ include "operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (printf "%s-controller-manager" (include "operator.fullname" .)) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "operator.subjects" -}}
subjects:
- kind: ServiceAccount
  name: {{ include "operator.serviceAccountName" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- define "operator.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true" if the metrics are enabled. */}}
{{- define "operator.metrics" -}}
{{- if kindIs "bool" .Values.metrics.enabled }}
{{- .Values.metrics.enabled }}
{{- else }}
{{- empty .Values.watchNamespaces }}
{{- end }}
{{- end }}

{{/* "true" if the webhooks are enabled. */}}
{{- define "operator.webhooks" -}}
{{- if kindIs "bool" .Values.webhooks.enabled }}
{{- .Values.webhooks.enabled }}
{{- else }}
{{- empty .Values.watchNamespaces }}
{{- end }}
{{- end }}

{{/* Checks that the schema cannot express, because they compare two values. */}}
{{- define "operator.check" -}}
{{- if not (.Files.Get "files/manager-role.yaml") }}
{{- fail "a checkout has no files/ of the chart; write them with `make chart`" }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) }}
{{- fail (printf "replicas: %d replicas would be active at the same time; set leaderElection.enabled to true, or set replicas to 1" (int .Values.replicas)) }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (ne (include "operator.metrics" .) "true") }}
{{- fail "metrics.serviceMonitor.enabled: the metrics are not enabled; set metrics.enabled to true, which also creates a ClusterRole with two rules" }}
{{- end }}
{{- if and .Values.podDisruptionBudget.enabled (not (kindIs "invalid" .Values.podDisruptionBudget.minAvailable)) (not (kindIs "invalid" .Values.podDisruptionBudget.maxUnavailable)) }}
{{- fail "podDisruptionBudget: minAvailable and maxUnavailable cannot be combined; to use minAvailable, set maxUnavailable to null" }}
{{- end }}
{{- if and (eq (include "operator.webhooks" .) "true") .Values.watchNamespaces (not .Values.webhooks.certificateSecret) }}
{{- fail "webhooks.enabled: with watchNamespaces, the operator cannot write its certificate authority into the CustomResourceDefinition; set webhooks.certificateSecret to a Secret that another program creates, and set webhooks.annotations so that this program writes the authority" }}
{{- end }}
{{- if and (not .Values.operatorConfig.create) .Values.operatorConfig.data }}
{{- fail "operatorConfig.data: has no effect while operatorConfig.create is false; remove operatorConfig.data, or set operatorConfig.create to true" }}
{{- end }}
{{- end }}
