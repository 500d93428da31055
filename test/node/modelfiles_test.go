//go:build node

package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
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
	s.eventually(func() error {
		object := &v1alpha2.LlamaStackDistribution{}
		if err := s.get("my", object); err != nil {
			return err
		}
		for _, condition := range object.Status.Conditions {
			if strings.Contains(condition.Message, names.ModelFilesContainer) {
				t.Logf("%s, %s: %s", condition.Type, condition.Reason, condition.Message)
				return nil
			}
		}
		return fmt.Errorf("no condition contains the name of the container: %s", conditions(object))
	})
	if pods, err := s.pods("my"); err != nil || !slices.ContainsFunc(pods, isThatReady(before)) {
		t.Errorf("the earlier pod no longer exists (%v)", err)
	}

	s.apply(modelClaim + stack("my", fmt.Sprintf(spec, "persistentVolumeClaim: {claimName: models}")))
	s.ready("my")
	s.kubectl("exec", "deployment/my", "--container=llama-stack", "--", "/bin/sh", "-c",
		"[ -d "+names.ModelFilesDir+" ] && ! (: >"+names.ModelFilesDir+"/written) 2>/dev/null")
}
