package names

const (
	// ModelFilesVolume is the volume with the model files of spec.modelFiles.
	ModelFilesVolume = "model-files"
	// ModelFilesDir is where that is mounted.
	ModelFilesDir = "/opt/llama-stack/model-files"
	// ModelFilesContainer is the init container that copies them out of an image.
	ModelFilesContainer = "model-files"
	// ModelFilesCopyDir is where that container finds the volume: nothing of an image lies there.
	ModelFilesCopyDir = "/opt/llama-stack/model-files-copy"
)

// Variables that lead to files which the server would download from the internet otherwise.
const (
	// EnvHubCache is the cache of the Hugging Face Hub, which transformers and docling read.
	EnvHubCache = "HF_HUB_CACHE"
	// EnvSentenceTransformers is the same for the library sentence-transformers.
	EnvSentenceTransformers = "SENTENCE_TRANSFORMERS_HOME"
	// EnvHubEndpoint is a mirror of the hub.
	EnvHubEndpoint = "HF_ENDPOINT"
	// EnvTiktokenCache has the tokenizers of tiktoken.
	EnvTiktokenCache = "TIKTOKEN_CACHE_DIR"
)
