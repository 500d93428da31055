package names

const (
	// ModelFilesVolume is the volume with the model files of spec.modelFiles.
	ModelFilesVolume = "model-files"
	// ModelFilesDir is the mount path of ModelFilesVolume.
	ModelFilesDir = "/opt/llama-stack/model-files"
	// ModelFilesContainer is the init container that copies the files out of an image.
	ModelFilesContainer = "model-files"
	// ModelFilesCopyDir is the mount path of the volume in ModelFilesContainer. Images are not expected to have files in
	// this directory.
	ModelFilesCopyDir = "/opt/llama-stack/model-files-copy"
)

// These variables specify the location of files that the server would otherwise download from the internet.
const (
	// EnvHubCache is the Hugging Face Hub cache, which transformers and docling read.
	EnvHubCache = "HF_HUB_CACHE"
	// EnvSentenceTransformers is the same cache for the sentence-transformers library.
	EnvSentenceTransformers = "SENTENCE_TRANSFORMERS_HOME"
	// EnvHubEndpoint is the URL of a Hugging Face Hub mirror.
	EnvHubEndpoint = "HF_ENDPOINT"
	// EnvTiktokenCache is the directory with the tiktoken tokenizers.
	EnvTiktokenCache = "TIKTOKEN_CACHE_DIR"
)
