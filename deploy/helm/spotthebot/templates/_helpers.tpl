{{- define "stb.labels" -}}
app.kubernetes.io/part-of: spotthebot
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{ include "stb.selector" . }}
{{- end }}

{{/* What selects the pods of one service; component is serve, work or a job. */}}
{{- define "stb.selector" -}}
app.kubernetes.io/name: {{ .name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "stb.image" -}}
{{ .root.Values.image.registry }}{{ .root.Values.image.prefix }}{{ .image }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "stb.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "stb.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "stb.podCommon" -}}
automountServiceAccountToken: false
securityContext:
  {{- include "stb.podSecurity" . | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A value as text: numbers of values files are floats, and Go writes large ones as 1.048576e+07. */}}
{{- define "stb.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/* Not empty where a service keeps models in a folder of its pod, which a second pod would not see. */}}
{{- define "stb.alone" -}}
{{- if and .entry.models (not .root.Values.models.existingClaim) }}alone{{ end }}
{{- end }}

{{/* Settings as environment: addresses of the services that it calls, and what the values add. */}}
{{- define "stb.environment" -}}
{{- $prefix := printf "SPOTTHEBOT_%s_" (upper .name) -}}
- {name: SPOTTHEBOT_SECRETS_DIR, value: /run/secrets/spotthebot}
- {name: FORWARDED_ALLOW_IPS, value: "*"}
- {name: {{ $prefix }}MAX_CONNECTIONS_PER_ADDRESS, value: "0"}
{{- range .entry.calls }}
- {name: {{ $prefix }}{{ upper . }}_URL, value: "http://{{ $.root.Release.Name }}-{{ . }}:8000"}
{{- end }}
{{- if .entry.models }}
- {name: {{ $prefix }}MODELS_FOLDER, value: /var/lib/spotthebot/models}
{{- end }}
{{- if and .entry.outside .root.Values.networkPolicies.operatorNetworks }}
- {name: {{ $prefix }}OPERATOR_NETWORKS, value: {{ toJson .root.Values.networkPolicies.operatorNetworks | quote }}}
{{- end }}
{{- $triton := ternary (printf "%s-triton:8001" .root.Release.Name) .root.Values.triton.address .root.Values.triton.enabled }}
{{- if and .entry.triton $triton }}
{{- if eq .name "fed" }}
- {name: SPOTTHEBOT_FED_TRITON_SERVERS, value: {{ list $triton | toJson | quote }}}
{{- else }}
- {name: {{ $prefix }}TRITON_GRPC, value: {{ $triton | quote }}}
{{- if .root.Values.triton.enabled }}
- {name: {{ $prefix }}TRITON_HTTP, value: "http://{{ .root.Release.Name }}-triton:8000"}
- {name: {{ $prefix }}TRITON_REPOSITORY, value: /var/lib/spotthebot/triton}
{{- end }}
{{- end }}
{{- end }}
{{- if eq .name "web" }}
- {name: SPOTTHEBOT_WEB_PUBLIC_URL, value: {{ with .root.Values.ingress.host }}"https://{{ . }}"{{ else }}""{{ end }}}
{{- end }}
{{- if eq .component "work" }}
- {name: {{ $prefix }}HEARTBEAT_FILE, value: /tmp/heartbeat}
{{- end }}
{{- with .root.Values.tracing.endpoint }}
- {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }}}
- {name: OTEL_TRACES_SAMPLER_ARG, value: {{ $.root.Values.tracing.sampleRatio | quote }}}
{{- end }}
{{- range $setting, $value := .values.settings }}
- {name: {{ $prefix }}{{ $setting }}, value: {{ include "stb.text" $value | quote }}}
{{- end }}
{{- end }}

{{/* The keys of the Secret that a container gets, as files named by the settings that they are. */}}
{{- define "stb.secrets" -}}
{{- $prefix := printf "SPOTTHEBOT_%s_" (upper .name) -}}
name: secrets
projected:
  defaultMode: 0440
  sources:
    - secret:
        name: {{ .root.Values.secrets.existing }}
        items:
          {{- if .entry.schema }}
          - {key: {{ $prefix }}DATABASE_URL, path: {{ $prefix }}DATABASE_URL}
          - {key: SPOTTHEBOT_SERVICE_KEY, path: {{ $prefix }}SERVICE_KEY}
          {{- end }}
          {{- if .entry.vault }}
          - {key: {{ $prefix }}SECRETS_KEY, path: {{ $prefix }}SECRETS_KEY}
          {{- end }}
          {{- if eq .name "web" }}
          - {key: SPOTTHEBOT_WEB_SESSIONS_KEY, path: SPOTTHEBOT_WEB_SESSIONS_KEY}
          - {key: SPOTTHEBOT_ANNOTATION_KEY, path: SPOTTHEBOT_WEB_ANNOTATION_KEY}
          {{- if .values.settings.OIDC_ISSUER }}
          - {key: SPOTTHEBOT_WEB_OIDC_KEYS, path: SPOTTHEBOT_WEB_OIDC_KEYS}
          {{- end }}
          {{- end }}
    {{- if and (eq .name "web") .values.settings.OIDC_ISSUER }}
    - secret:
        name: {{ .root.Values.secrets.existing }}
        items: [{key: SPOTTHEBOT_WEB_OIDC_CLIENT_SECRET, path: SPOTTHEBOT_WEB_OIDC_CLIENT_SECRET}]
        optional: true # a public client has none
    {{- end }}
{{- end }}
