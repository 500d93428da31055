{{- define "operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* The prefix of every name. It is the name of the release if that contains the name of the chart. */}}
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

{{/* "true" if metrics are served. */}}
{{- define "operator.metrics" -}}
{{- if kindIs "bool" .Values.metrics.enabled }}
{{- .Values.metrics.enabled }}
{{- else }}
{{- empty .Values.watchNamespaces }}
{{- end }}
{{- end }}

{{/* "true" if webhooks are served. */}}
{{- define "operator.webhooks" -}}
{{- if kindIs "bool" .Values.webhooks.enabled }}
{{- .Values.webhooks.enabled }}
{{- else }}
{{- empty .Values.watchNamespaces }}
{{- end }}
{{- end }}

{{/* Checks that the schema cannot express, because they compare two values. */}}
{{- define "operator.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) }}
{{- fail (printf "replicas: %d replicas would all work at once; set leaderElection.enabled to true or replicas to 1" (int .Values.replicas)) }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (ne (include "operator.metrics" .) "true") }}
{{- fail "metrics.serviceMonitor.enabled: there are no metrics to read; set metrics.enabled to true, which with watchNamespaces brings a ClusterRole with two rights" }}
{{- end }}
{{- if and .Values.podDisruptionBudget.enabled (not (kindIs "invalid" .Values.podDisruptionBudget.minAvailable)) (not (kindIs "invalid" .Values.podDisruptionBudget.maxUnavailable)) }}
{{- fail "podDisruptionBudget: minAvailable and maxUnavailable exclude each other; set maxUnavailable to null to use minAvailable" }}
{{- end }}
{{- if and (eq (include "operator.webhooks" .) "true") .Values.watchNamespaces (not .Values.webhooks.certificateSecret) }}
{{- fail "webhooks.enabled: with watchNamespaces the operator cannot write its certificate authority into the definition; set webhooks.certificateSecret to a certificate that others make, and webhooks.annotations so that they write its authority" }}
{{- end }}
{{- if and (not .Values.operatorConfig.create) .Values.operatorConfig.data }}
{{- fail "operatorConfig.data: has no effect while operatorConfig.create is false; take one of both away" }}
{{- end }}
{{- end }}
