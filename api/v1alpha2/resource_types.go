package v1alpha2

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ResourcesSpec registers resources when the server starts (FR-006). They are
// added to what the base registers; the same kind and id replaces the base's.
type ResourcesSpec struct {
	// models: each a name, or an object {name, provider, contextLength,
	// modelType, quantization, providerModelId, metadata}. Without a provider a
	// model goes to the first inference provider (FR-040).
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Models []ModelEntry `json:"models,omitempty"`

	// tools: each a name, or an object {name, provider, mcpEndpoint, args}.
	// websearch and rag mean the built-in groups.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Tools []ToolEntry `json:"tools,omitempty"`

	// shields: each a name, or an object {name, provider, model, params}.
	// Without a provider a shield goes to the first safety provider (FR-044).
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +optional
	Shields []ShieldEntry `json:"shields,omitempty"`
}

// ModelEntry is a model's name, llama3.2-8b, or a Model, {name: llama3.2-70b,
// provider: vllm, contextLength: 128000} (FR-007), kept as the JSON it was written
// in.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type ModelEntry struct {
	// Raw is the JSON: a string or an object.
	Raw []byte `json:"-"`
}

// ToolEntry is a tool group's name, websearch, or a Tool, {name: mine, mcpEndpoint:
// http://mcp:3000/sse}, kept as the JSON it was written in.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type ToolEntry struct {
	// Raw is the JSON: a string or an object.
	Raw []byte `json:"-"`
}

// ShieldEntry is a shield's name, llama-guard, or a Shield, {name: guard, provider:
// llama-guard, model: llama-guard3-8b}, kept as the JSON it was written in.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type ShieldEntry struct {
	// Raw is the JSON: a string or an object.
	Raw []byte `json:"-"`
}

// Model is the object form of a model (FR-041, FR-042).
type Model struct {
	// name is the id the model is registered under. Required.
	// +required
	Name string `json:"name"`
	// provider is the id of an inference provider. Unset: the first one.
	// +optional
	Provider string `json:"provider,omitempty"`
	// providerModelId is the provider's own name of the model. Unset: name.
	// +optional
	ProviderModelID string `json:"providerModelId,omitempty"`
	// modelType is llm, embedding or rerank. Unset: the server's default, llm.
	// +optional
	ModelType string `json:"modelType,omitempty"`
	// contextLength is the context window in tokens, more than 0. Written to
	// the model's metadata.
	// +optional
	ContextLength *int64 `json:"contextLength,omitempty"`
	// quantization names the quantization. Written to the model's metadata.
	// +optional
	Quantization string `json:"quantization,omitempty"`
	// metadata is added to the model's metadata as it is.
	// +optional
	Metadata *apiextensionsv1.JSON `json:"metadata,omitempty"`
}

// Tool is the object form of a tool group (FR-043).
type Tool struct {
	// name is the tool group: websearch, rag, or a name of one's own. Required.
	// +required
	Name string `json:"name"`
	// provider is the id of a toolRuntime provider. Unset: the first one that fits.
	// +optional
	Provider string `json:"provider,omitempty"`
	// mcpEndpoint is the URL of an MCP server.
	// +optional
	MCPEndpoint string `json:"mcpEndpoint,omitempty"`
	// args are handed to the tool group as they are.
	// +optional
	Args *apiextensionsv1.JSON `json:"args,omitempty"`
}

// Shield is the object form of a shield (FR-044).
type Shield struct {
	// name is the id the shield is registered under. Required.
	// +required
	Name string `json:"name"`
	// provider is the id of a safety provider. Unset: the first one.
	// +optional
	Provider string `json:"provider,omitempty"`
	// model is the provider's own id of the shield, for llama-guard the guard
	// model. Unset: name.
	// +optional
	Model string `json:"model,omitempty"`
	// params are handed to the shield as they are.
	// +optional
	Params *apiextensionsv1.JSON `json:"params,omitempty"`
}
