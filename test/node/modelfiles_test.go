//go:build node

package node

import (
	"fmt"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
)

// modelClaim is a PersistentVolumeClaim for model files. The test does not write files to the volume.
const modelClaim = `---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// The server can read model files from an image. It cannot write to the folder of the model files, whether the folder
// is from an image or from a volume. If an image does not contain the files, the earlier pod continues to run.
func TestModelFiles(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	files := external.Image{"hub/refs/main": "abcd\n"}
	models := s.pushProvider("models", files, image.ExternalProvider{})
	const spec = "distribution: {name: starter}\noffline: true\nmodelFiles: {%s, huggingFaceCache: hub}\nworkload: {resources: " + small + "}"
	const closed = `! (: >"$HF_HUB_CACHE/written") 2>/dev/null && [ "$HF_HUB_OFFLINE" = 1 ]`

	s.apply(stack("my", fmt.Sprintf(spec, "image: {reference: "+models+", path: /lls-provider}")))
	s.ready("my")
	s.kubectl("exec", "deployment/my", "--container=llama-stack", "--", "/bin/sh", "-c",
		`read -r line <"$HF_HUB_CACHE/refs/main" && [ "$line" = abcd ] && `+closed)
	before := s.onePod("my")

	s.apply(stack("my", fmt.Sprintf(spec, "image: {reference: "+models+", path: /nothing}")))
	t.Log(s.says("my", names.ModelFilesContainer))
	s.remains("my", before)

	s.apply(modelClaim + stack("my", fmt.Sprintf(spec, "persistentVolumeClaim: {claimName: models}")))
	s.ready("my")
	s.kubectl("exec", "deployment/my", "--container=llama-stack", "--", "/bin/sh", "-c",
		"[ -d "+names.ModelFilesDir+" ] && ! (: >"+names.ModelFilesDir+"/written) 2>/dev/null")
}
