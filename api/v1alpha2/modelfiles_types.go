package v1alpha2

import corev1 "k8s.io/api/core/v1"

// ModelFilesSpec selects a volume or an image with model and tokenizer files that the server would otherwise download.
// The files are mounted read-only at /opt/llama-stack/model-files.
//
// +kubebuilder:validation:XValidation:rule=`has(self.persistentVolumeClaim) || has(self.image)`,message=`set either persistentVolumeClaim or image to provide the files`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.persistentVolumeClaim) || !has(self.image)`,message=`persistentVolumeClaim and image are mutually exclusive: remove one of them`,reason=FieldValueForbidden
type ModelFilesSpec struct {
	// persistentVolumeClaim is a volume with the files.
	// +optional
	PersistentVolumeClaim *ModelFilesClaim `json:"persistentVolumeClaim,omitempty"`

	// image is an image with the files. An init container runs the image and copies the files. The image must contain the
	// programs /bin/sh, cp, chmod and rm, which the init container uses.
	// +optional
	Image *ModelFilesImage `json:"image,omitempty"`

	// huggingFaceCache is the directory with a Hugging Face Hub cache, relative to the root of the files. The cache
	// contains directories such as models--sentence-transformers--all-MiniLM-L6-v2. If unset, the server uses its own
	// cache.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[^/:]+(/[^/:]+)*$') && !self.matches('(^|/)[.][.](/|$)')`,messageExpression=`'"' + self + '" is not a relative directory: write a directory such as hub, without a leading or trailing "/", without "//", without ":" and without the segment ".."'`
	// +optional
	HuggingFaceCache string `json:"huggingFaceCache,omitempty"`

	// tiktokenCache is the directory with the tiktoken tokenizers, relative to the root of the files. If unset, the server
	// uses the tokenizers in its image.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[^/:]+(/[^/:]+)*$') && !self.matches('(^|/)[.][.](/|$)')`,messageExpression=`'"' + self + '" is not a relative directory: write a directory such as tiktoken, without a leading or trailing "/", without "//", without ":" and without the segment ".."'`
	// +optional
	TiktokenCache string `json:"tiktokenCache,omitempty"`
}

// ModelFilesClaim selects a volume with model files.
type ModelFilesClaim struct {
	// claimName is the name of a PersistentVolumeClaim in the object's namespace. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a PersistentVolumeClaim: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."'`
	// +required
	ClaimName string `json:"claimName"`
}

// ModelFilesImage selects an image with model files.
type ModelFilesImage struct {
	// reference is the reference to the image. Required.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|[[][0-9a-fA-F:]+[]])(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9+._-]+:[0-9a-fA-F]{32,128})?$')`,messageExpression=`'"' + self + '" is not an image reference: write [registry/]repository[:tag][@digest], with the repository in lower case'`
	// +required
	Reference string `json:"reference"`

	// path is the directory of the files in the image. Defaults to /models.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(/[^/:]+)+/?$') && !self.matches('(^|/)[.][.]?(/|$)')`,messageExpression=`'"' + self + '" is not an absolute path: write a path such as /models, without ":", without "//" and without the segments "." and ".."'`
	// +optional
	Path string `json:"path,omitempty"`

	// pullPolicy is the pull policy of the image. If unset, the Kubernetes default applies.
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	PullPolicy corev1.PullPolicy `json:"pullPolicy,omitempty"`
}

// DefaultModelFilesPath is the directory of the files in an image if modelFiles.image.path is unset.
const DefaultModelFilesPath = "/models"
