{{- define "carillon.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "carillon.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "carillon.labels" -}}
{{ include "carillon.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "carillon.hosts" -}}
{{- $name := include "carillon.name" . -}}
{{- $in := printf "%s.%s" $name .Release.Namespace -}}
{{- printf "%s,%s,%s.svc,%s.svc.cluster.local" $name $in $in $in -}}
{{- end -}}
