package image

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// Public builds images that replace public images. The programs in these images come from this machine and from
// packages in the Python Package Index. Images with different names can share layers.
type Public struct {
	folder    string
	databases v1.Image
}

// NewPublic returns a builder that writes its layers to the given directory.
func NewPublic(folder string) *Public { return &Public{folder: folder} }

// Image returns the image that replaces a Docker Hub repository, such as redis or chromadb/chroma. It returns nil if no
// image replaces the repository.
func (p *Public) Image(ctx context.Context, repository string) (v1.Image, error) {
	switch repository {
	case "redis":
		return p.database(ctx, []string{redisStart}, []string{"redis-server"})
	case "postgres", "pgvector/pgvector":
		return p.database(ctx, []string{postgresStart}, nil)
	case "busybox":
		return tools(ctx, p.folder, "sh", "tar", "sleep", "ls", "cat", "mkdir", "rm")
	case "curlimages/curl":
		return tools(ctx, p.folder, "sh", "curl")
	case "chromadb/chroma":
		return p.python(ctx, "chroma", "chroma", "run", "--path", serverData, "--host", "0.0.0.0", "--port", "8000")
	case "milvusdb/milvus":
		return p.milvus(ctx)
	case "motoserver/moto":
		return p.python(ctx, "s3", "python", "-c", serveS3)
	default:
		return nil, nil //nolint:nilnil // this function does not replace most images
	}
}

// database returns the database image with a different entrypoint, which starts one of the databases.
func (p *Public) database(ctx context.Context, entrypoint, arguments []string) (v1.Image, error) {
	if p.databases == nil {
		built, err := Databases(ctx, p.folder)
		if err != nil {
			return nil, err
		}
		p.databases = built
	}
	file, err := p.databases.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration of the databases: %w", err)
	}
	config := *file.Config.DeepCopy()
	config.Entrypoint, config.Cmd = entrypoint, arguments
	built, err := mutate.Config(p.databases, config)
	if err != nil {
		return nil, fmt.Errorf("write the configuration of a database: %w", err)
	}
	return built, nil
}

// tools returns an image with programs from this machine.
func tools(ctx context.Context, folder string, names ...string) (v1.Image, error) {
	entries, err := programs(ctx, names...)
	if err != nil {
		return nil, err
	}
	layer, err := NewLayer(folder, append(entries, users(serverUser)...)...)
	if err != nil {
		return nil, err
	}
	return New(v1.Config{Cmd: []string{"sh"}, WorkingDir: "/", Env: []string{"PATH=/bin", "HOME=/"}}, layer)
}

const (
	// serverData is the folder to which the servers in Python packages write.
	serverData = "/data"
	// serveS3 is a Python program that serves S3 in memory, with the bucket $BUCKET.
	serveS3 = `import os, threading
import boto3
from moto.server import ThreadedMotoServer
ThreadedMotoServer(ip_address="0.0.0.0", port=9000).start()
boto3.client("s3", endpoint_url="http://127.0.0.1:9000", region_name="us-east-1", aws_access_key_id="a",
    aws_secret_access_key="b").create_bucket(Bucket=os.environ["BUCKET"])
print("serves the bucket", flush=True)
threading.Event().wait()
`
)

// milvusPath is the folder of Milvus Lite and its libraries in the image.
const milvusPath = "/opt/milvus"

// milvus returns an image of Milvus Lite. Its Python package usually starts the program for one local client. In the
// image, the program listens on all addresses.
func (p *Public) milvus(ctx context.Context) (v1.Image, error) {
	bin, err := realserver.InstallServer(ctx, "milvus")
	if err != nil {
		return nil, err
	}
	packages, err := realserver.Packages(bin)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(packages, "milvus_lite", "lib")
	files, err := filepath.Glob(own + "/*")
	if err != nil {
		return nil, fmt.Errorf("find the Milvus Lite programs: %w", err)
	}
	shared, err := libraries(ctx, files, own)
	if err != nil {
		return nil, err
	}
	layer, err := NewLayer(p.folder, append(append(shared, users(serverUser)...),
		Tree{Source: own, Path: milvusPath}, Directory{Path: serverData, Mode: 0o775, UID: serverUser.uid})...)
	if err != nil {
		return nil, err
	}
	return New(v1.Config{
		Entrypoint: []string{milvusPath + "/milvus", serverData + "/milvus.db", "0.0.0.0:19530", "ERROR"},
		User:       serverUser.id(), WorkingDir: serverData, Env: []string{"LD_LIBRARY_PATH=" + milvusPath},
	}, layer)
}

// python returns an image of a server from a Python package, with the Python environment at the same path as on this
// machine.
func (p *Public) python(ctx context.Context, name, program string, arguments ...string) (v1.Image, error) {
	bin, err := realserver.InstallServer(ctx, name)
	if err != nil {
		return nil, err
	}
	interpreter, err := findPython(ctx, bin)
	if err != nil {
		return nil, err
	}
	layers, err := serverLayers(ctx, p.folder, interpreter, filepath.Dir(bin), []Entry{
		Directory{Path: serverData, Mode: 0o775, UID: serverUser.uid},
	})
	if err != nil {
		return nil, err
	}
	return New(v1.Config{
		Entrypoint: slices.Concat([]string{filepath.Join(bin, program)}, arguments), User: serverUser.id(),
		WorkingDir: serverData,
		Env:        []string{"PATH=" + bin + ":/bin", "HOME=" + serverUser.home, "PYTHONUNBUFFERED=1"},
	}, layers...)
}
