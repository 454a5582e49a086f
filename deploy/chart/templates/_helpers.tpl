{{/* Returns the name of all objects. The pods' name must leave room for "-pods" and a revision. */}}
{{- define "flakeid.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "flakeid" .Release.Name -}}
{{- .Release.Name | trunc 47 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-flakeid" (.Release.Name | trunc 39 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* Returns the job of the alerts and of the dashboard. */}}
{{- define "flakeid.job" -}}
{{- ternary "flakeid-broker" "flakeid-serve" .Values.brokers -}}
{{- end -}}

{{/* Returns the labels by which other objects select the pods. */}}
{{- define "flakeid.selector" -}}
app.kubernetes.io/name: {{ include "flakeid.job" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Returns the scheme of the servers, which is also the name of their port. */}}
{{- define "flakeid.scheme" -}}
{{- ternary "https" "http" (ne .Values.tls.existingSecret "") -}}
{{- end -}}

{{/* Returns "true" if the store is this cluster's API server. */}}
{{- define "flakeid.inCluster" -}}
{{- if not .Values.store.existingSecret -}}true{{- end -}}
{{- end -}}

{{/* Returns the environment of the command. */}}
{{- define "flakeid.environment" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: FLAKEID_STORE
{{- if include "flakeid.inCluster" . }}
  value: kubernetes://$(POD_NAMESPACE)/{{ include "flakeid.fullname" . }}
{{- else }}
  valueFrom:
    secretKeyRef: { name: {{ .Values.store.existingSecret }}, key: {{ .Values.store.key }} }
{{- end }}
{{- end -}}

{{/* Returns the security settings of a container. */}}
{{- define "flakeid.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Returns the name of a namespace's ConfigMap, which the store chooses in the same way. */}}
{{- define "flakeid.map" -}}
{{- $name := index . 0 }}
{{- $namespace := index . 1 }}
{{- if regexMatch "^[-a-z0-9]*[a-z0-9]$" $namespace -}}
{{- printf "%s-%s" $name $namespace -}}
{{- else -}}
{{- printf "%s.x%x" $name $namespace -}}
{{- end -}}
{{- end -}}
