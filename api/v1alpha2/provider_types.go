package v1alpha2

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ProvidersSpec configures providers by API (FR-003). Every field takes one
// provider or a list of them; in a list of more than one each needs an id
// (FR-034), and ids are unique over all APIs (FR-072).
type ProvidersSpec struct {
	// inference: one provider, {provider: vllm}, or a list, [{id: a, provider:
	// vllm}, {id: b, provider: openai}]. Serves models (API inference).
	// +optional
	Inference *Providers `json:"inference,omitempty"`
	// safety: one provider, {provider: llama-guard}, or a list, [{id: a, provider:
	// llama-guard}, {id: b, provider: bedrock}]. Runs shields (API safety, up to
	// release 0.8).
	// +optional
	Safety *Providers `json:"safety,omitempty"`
	// vectorIo: one provider, {provider: pgvector}, or a list, [{id: a, provider:
	// pgvector}, {id: b, provider: faiss}]. Vector stores (API vector_io).
	// +optional
	VectorIo *Providers `json:"vectorIo,omitempty"`
	// toolRuntime: one provider, {provider: model-context-protocol}, or a list,
	// [{id: a, provider: model-context-protocol}, {id: b, provider:
	// tavily-search}]. Tools (API tool_runtime).
	// +optional
	ToolRuntime *Providers `json:"toolRuntime,omitempty"`
	// telemetry: one provider, {provider: meta-reference}, or a list, [{id: a,
	// provider: meta-reference}, {id: b, provider: meta-reference}]. For the API
	// telemetry, release 0.2 only; newer releases read OTEL_* variables, set them
	// in workload.overrides.env.
	// +optional
	Telemetry *Providers `json:"telemetry,omitempty"`
	// agents: one provider, {provider: meta-reference}, or a list, [{id: a,
	// provider: meta-reference}, {id: b, provider: meta-reference}]. For the API
	// agents up to release 0.6.
	// +optional
	Agents *Providers `json:"agents,omitempty"`
	// responses: one provider, {provider: builtin}, or a list, [{id: a, provider:
	// builtin}, {id: b, provider: builtin}]. For the API responses, release 0.7
	// and newer.
	// +optional
	Responses *Providers `json:"responses,omitempty"`
	// files: one provider, {provider: localfs}, or a list, [{id: a, provider:
	// localfs}, {id: b, provider: s3}]. Uploaded files (API files).
	// +optional
	Files *Providers `json:"files,omitempty"`
	// batches: one provider, {provider: reference}, or a list, [{id: a, provider:
	// reference}, {id: b, provider: reference}]. Batch requests (API batches).
	// +optional
	Batches *Providers `json:"batches,omitempty"`
	// eval: one provider, {provider: meta-reference}, or a list, [{id: a,
	// provider: meta-reference}, {id: b, provider: nvidia}]. For the API eval, up
	// to release 0.7.
	// +optional
	Eval *Providers `json:"eval,omitempty"`
	// scoring: one provider, {provider: basic}, or a list, [{id: a, provider:
	// basic}, {id: b, provider: braintrust}]. For the API scoring, up to release
	// 0.7.
	// +optional
	Scoring *Providers `json:"scoring,omitempty"`
	// datasetIo: one provider, {provider: localfs}, or a list, [{id: a, provider:
	// localfs}, {id: b, provider: huggingface}]. For the API datasetio, up to
	// release 0.7.
	// +optional
	DatasetIo *Providers `json:"datasetIo,omitempty"`
	// postTraining: one provider, {provider: torchtune}, or a list, [{id: a,
	// provider: torchtune}, {id: b, provider: nvidia}]. For the API post_training,
	// up to release 0.6.
	// +optional
	PostTraining *Providers `json:"postTraining,omitempty"`
	// fileProcessors: one provider, {provider: pypdf}, or a list, [{id: a,
	// provider: pypdf}, {id: b, provider: docling}]. For the API file_processors,
	// release 0.6 and newer.
	// +optional
	FileProcessors *Providers `json:"fileProcessors,omitempty"`
	// messages: one provider, {provider: builtin}, or a list, [{id: a, provider:
	// builtin}, {id: b, provider: builtin}]. For the API messages, release 0.8 and
	// newer.
	// +optional
	Messages *Providers `json:"messages,omitempty"`
	// interactions: one provider, {provider: builtin}, or a list, [{id: a,
	// provider: builtin}, {id: b, provider: builtin}]. For the API interactions,
	// release 0.8 and newer.
	// +optional
	Interactions *Providers `json:"interactions,omitempty"`
	// skills: one provider, {provider: builtin}, or a list, [{id: a, provider:
	// builtin}, {id: b, provider: builtin}]. For the API skills, release 1.1 and
	// newer.
	// +optional
	Skills *Providers `json:"skills,omitempty"`
}

// Providers is one provider or a list of them (FR-004), kept as the JSON it was
// written in. Package intent decodes it into Provider values, strictly and with
// field paths.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type Providers struct {
	// Raw is the JSON: an object (one provider) or an array of objects.
	Raw []byte `json:"-"`
}

// Provider is the typed form of one entry of Providers (FR-005).
type Provider struct {
	// id is the provider's id in the server. Unset: the value of provider, and
	// of that the part behind a "::" (FR-035).
	// +optional
	ID string `json:"id,omitempty"`

	// provider is the provider's type: a short name (vllm) or the server's full
	// type (remote::vllm, inline::faiss). Required.
	// +required
	Provider string `json:"provider"`

	// endpoint is the URL of the service behind the provider.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// apiKey is the provider's credential.
	// +optional
	APIKey *SecretReference `json:"apiKey,omitempty"`

	// secretRefs sets configuration keys of the provider from Secrets.
	// +optional
	SecretRefs map[string]SecretReference `json:"secretRefs,omitempty"`

	// settings is merged into the provider's config as it is (FR-033).
	// +optional
	Settings *apiextensionsv1.JSON `json:"settings,omitempty"`

	// Shorthand holds every other key: a configuration key of the provider
	// whose value is {secretKeyRef: …}, the short form of secretRefs.
	Shorthand map[string]SecretReference `json:"-"`
}
