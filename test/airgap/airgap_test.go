//go:build airgap

package airgap

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
)

const (
	serverRelease = "0.7.3"
	standInImage  = "quay.io/tools/standin:1"
	providerImage = "quay.io/team/echo-provider:1.2"
	serverImage   = "docker.io/ogxai/distribution-starter:" + serverRelease
	// namespace is the namespace of the stacks.
	namespace = "team-a"
	// patience is the time limit for the start of a server on a busy machine.
	patience = 5 * time.Minute
)

// TestAirGap tests all steps of an installation without internet access. It creates a bundle on the machine that runs
// the test, because this machine can pull images. During all other steps, the node of the cluster has no route to the
// internet.
func TestAirGap(t *testing.T) {
	j := newJourney(t)
	host, _, err := net.SplitHostPort(os.Getenv("CLUSTER_REGISTRY"))
	testutil.Must(t, err)
	bundle := j.makeBundle()
	private := startPrivateRegistry(t, host)
	j.hidden[private.address] = "registry.corp:5000"
	j.hidden[password] = "********"
	j.hidden[base64.StdEncoding.EncodeToString([]byte(user+":"+password))] = "********"
	t.Cleanup(func() {
		if t.Failed() {
			j.explain()
		}
	})

	j.cutOff(host)
	values := j.load(bundle, private)
	j.configureNode(private)
	j.install(values, private)
	j.answers(private)
	j.mirrorOfTheNode(private)
	j.withoutLabels()
	writes, reads := private.counts()
	j.print("\nThe private registry received %d write requests and %d read requests, and rejected %d requests without a password. The test took %.0f s.\n",
		writes, reads, private.denied, time.Since(j.started).Seconds())
}

// makeBundle builds the images, and a bundle that contains them, on the machine with internet access.
func (j *journey) makeBundle() string {
	j.t.Helper()
	source := os.Getenv("CLUSTER_REGISTRY")
	published, err := image.Publish(j.t.Context(), source, "airgap", "operator", "server@"+serverRelease,
		"standin@"+serverRelease)
	testutil.Must(j.t, err)
	provider := image.ExternalProvider{
		Files: map[string][]byte{}, Label: []byte(external.EchoSpec().YAML()), Entrypoint: []string{"/bin/sleep", "infinity"},
	}
	for path, content := range external.Echo() {
		provider.Files[path] = []byte(content)
	}
	built, err := provider.Image(j.t.Context(), j.t.TempDir())
	testutil.Must(j.t, err)
	testutil.Must(j.t, image.Push(j.t.Context(), source+"/echo-provider:1.2", built))
	j.hidden[source] = "registry.build:5000"
	j.say("Create a bundle on a machine that can pull the images")
	bundle := filepath.Join(j.folder, "llama-stack-bundle.tar")
	servers := []string{
		"starter@" + serverRelease + "=" + published["server@"+serverRelease].Reference,
		providerImage + "=" + source + "/echo-provider:1.2",
		standInImage + "=" + published["standin@"+serverRelease].Reference,
	}
	args := []string{
		"make", "airgap-bundle", "OPERATOR=llama-stack-k8s-operator:dev=" + published["operator"].Reference,
		"SERVERS=" + strings.Join(servers, " "), "BUNDLE=" + bundle, "CLI_PLATFORMS=linux/" + runtime.GOARCH,
	}
	j.run(command{args: args, line: strings.Join(args[:3], " ") + fmt.Sprintf(" %q %s", args[3], args[4])})
	j.run(command{args: []string{
		"tar", "-xf", bundle, "-C", j.folder, "bin", "chart", "samples", "README.md",
		"images.txt",
	}})
	info, err := os.Stat(bundle)
	testutil.Must(j.t, err)
	j.print("%s: %.1f MB\n", bundle, float64(info.Size())/1e6)
	return bundle
}

// cutOff removes the node's default route, so that the node reaches only its own link and the Services. It also blocks
// connections to the registry that provided the images in the bundle.
func (j *journey) cutOff(host string) {
	j.t.Helper()
	j.say("Remove the node's routes to the internet")
	j.kubectl("wait", "--for=condition=Available", "--namespace=kube-system", "deployment", "--all", "--timeout=180s")
	services := j.run(command{args: []string{
		"kubectl", "get", "service", "kubernetes",
		"--output=jsonpath={.spec.clusterIP}",
	}})
	j.print("\n")
	_, port, err := net.SplitHostPort(os.Getenv("CLUSTER_REGISTRY"))
	testutil.Must(j.t, err)
	octets := strings.Split(services, ".")
	for _, args := range [][]string{
		{"ip", "route", "add", strings.Join(octets[:3], ".") + ".0/20", "via", host},
		{"ip", "route", "del", "default"},
		{"nft", "add table inet airgap"},
		{"nft", "add chain inet airgap out { type filter hook output priority 0; }"},
		{"nft", "add rule inet airgap out ip daddr " + host + " tcp dport " + port + " reject"},
	} {
		j.run(command{args: args, onNode: true})
	}
	j.run(command{args: []string{"ip", "route"}, onNode: true})
	j.refused(command{
		args: []string{"bash", "-c", "exec 3<>/dev/tcp/1.1.1.1/443"},
		line: "bash -c 'exec 3<>/dev/tcp/1.1.1.1/443'", onNode: true,
	}, "unreachable")
	j.refused(command{
		args: []string{"bash", "-c", "exec 3<>/dev/tcp/" + host + "/" + port}, line: "bash -c 'exec 3<>/dev/tcp/registry.build/5000'", onNode: true,
	}, "refused")
}

// load runs the command `bundle load` in the node's network. The command copies the images in the bundle to the private
// registry. load returns the path of a file with the values for the chart.
func (j *journey) load(bundle string, private *privateRegistry) string {
	j.t.Helper()
	j.say("Load the bundle into a private registry from the node's network")
	authority := j.write("ca.pem", private.authority)
	cli := filepath.Join(j.folder, "bin", "kubectl-llamastack-linux-"+runtime.GOARCH)
	login := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	config := filepath.Dir(j.write("docker/config.json", fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, private.address,
		login)))
	load := func(env string, more ...string) command {
		args := append([]string{cli, "bundle", "load", bundle, "--registry", private.address + "/mirror"}, more...)
		return command{args: args, env: []string{"DOCKER_CONFIG=" + env}, onNode: true}
	}
	j.refused(load(config), "--ca-file")
	j.refused(load(j.t.TempDir(), "--ca-file", authority), "docker login")
	values := j.run(load(config, "--ca-file", authority))
	before, _ := private.counts()
	j.run(load(config, "--ca-file", authority, "-o", "images"))
	if after, _ := private.counts(); after != before {
		j.t.Errorf("the second load wrote %d times", after-before)
	}
	return j.write("values.yaml", values)
}

// configureNode configures containerd to trust the certificate authority. The location of this setting depends on the
// kind of node.
func (j *journey) configureNode(private *privateRegistry) {
	j.t.Helper()
	authority := filepath.Join(j.folder, "ca.pem")
	j.hosts(private.address, fmt.Sprintf("server = %q\n\n[host.%q]\ncapabilities = [\"pull\", \"resolve\"]\nca = %q\n",
		"https://"+private.address, "https://"+private.address, authority))
}

// hosts writes containerd's settings for a registry.
func (j *journey) hosts(registry, settings string) {
	j.t.Helper()
	path := filepath.Join(os.Getenv("CLUSTER_DIR"), "node", "certs.d", registry, "hosts.toml")
	if !filepath.IsAbs(path) {
		path = filepath.Join(testutil.Root(), path)
	}
	testutil.Must(j.t, os.MkdirAll(filepath.Dir(path), 0o700))
	testutil.Must(j.t, os.WriteFile(path, []byte(settings), 0o600))
	j.print("node$ cat /etc/containerd/certs.d/%s/hosts.toml\n%s", registry, settings)
}

// pullSecret creates the Secret with the credentials for pulling images.
func (j *journey) pullSecret(namespace string, private *privateRegistry) {
	j.t.Helper()
	j.kubectl("create", "secret", "docker-registry", "mirror", "--namespace", namespace,
		"--docker-server="+private.address,
		"--docker-username="+user, "--docker-password="+password)
}

// install installs the operator from the bundle's chart.
func (j *journey) install(values string, private *privateRegistry) {
	j.t.Helper()
	j.say("Install the operator from the bundle")
	j.kubectl("create", "namespace", names.OperatorNamespace)
	j.kubectl("label", "namespace", names.OperatorNamespace, "pod-security.kubernetes.io/enforce=restricted")
	j.pullSecret(names.OperatorNamespace, private)
	j.kubectl("create", "configmap", "registry-ca", "--namespace", names.OperatorNamespace,
		"--from-file=ca-bundle.crt="+filepath.Join(j.folder, "ca.pem"))
	host, _, err := net.SplitHostPort(private.address)
	testutil.Must(j.t, err)
	args := []string{
		"helm", "install", "llama-stack-k8s-operator", filepath.Join(j.folder, "chart/llama-stack-k8s-operator"),
		"--namespace", names.OperatorNamespace, "--values", values,
		"--set", "imagePullSecrets[0].name=mirror", "--set", "caBundle.configMap=registry-ca",
		// No proxy listens on this address, so the operator cannot reach an address that is not in NO_PROXY. The chart adds
		// the API server to NO_PROXY.
		"--set", "proxy.https=http://proxy.corp.invalid:3128", "--set", "proxy.noProxy=" + host,
	}
	j.run(command{args: append([]string{filepath.Join(testutil.Root(), ".cache/bin/helm")}, args[1:]...), line: strings.Join(args, " "), shown: 6})
	j.kubectl("rollout", "status", "--namespace", names.OperatorNamespace, "deployment/llama-stack-k8s-operator-controller-manager", "--timeout=180s")
	j.kubectl("get", "pods", "--namespace", names.OperatorNamespace, "--output=custom-columns=NAME:.metadata.name,READY:.status.containerStatuses[0].ready,IMAGE:.spec.containers[0].image")
}

// withProvider is a stack with a named distribution, a model server and an external provider. Their images come from
// the private registry.
const withProvider = `
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: my-stack}
spec:
  distribution: {name: starter, version: %q}
  providers:
    inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
  externalProviders:
    inference:
    - {providerId: echo, image: %q, config: {greeting: Hello},
       secretRefs: {token: {secretKeyRef: {name: vllm-creds, key: token}}}}
  resources:
    models: [llama3.2-8b, {name: parrot, provider: echo}]
  workload:
    resources: {requests: {cpu: 100m, memory: 256Mi}}
    overrides: {imagePullSecrets: [{name: mirror}]}
`

// neighbors contains the manifests of a model server and a client.
const neighbors = `
apiVersion: v1
kind: Service
metadata: {name: vllm}
spec: {selector: {app: vllm}, ports: [{port: 8000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: vllm, labels: {app: vllm}}
spec:
  imagePullSecrets: [{name: mirror}]
  containers:
  - {name: main, image: %[1]q, command: [/standin, vllm],
     env: [{name: VLLM_API_KEY, valueFrom: {secretKeyRef: {name: vllm-creds, key: token}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  imagePullSecrets: [{name: mirror}]
  containers: [{name: main, image: %[1]q, command: [/standin, idle]}]
`

// answers checks that a stack answers requests for two models: one from its model server, and one from its external
// provider.
func (j *journey) answers(private *privateRegistry) {
	j.t.Helper()
	j.say("Run a stack and an external provider from the private registry")
	j.kubectl("create", "namespace", namespace)
	j.pullSecret(namespace, private)
	j.kubectl("create", "secret", "generic", "vllm-creds", "--namespace", namespace, "--from-literal=token=sk-airgap")
	j.apply(namespace, fmt.Sprintf(neighbors, private.address+"/mirror/tools/standin:1"))
	j.apply(namespace, fmt.Sprintf(withProvider, serverRelease, private.address+"/mirror/team/echo-provider:1.2"))
	j.ready("my-stack")
	j.images("my-stack")
	j.kubectl("wait", "--namespace", namespace, "--for=condition=Ready", "pod/vllm", "pod/client", "--timeout=120s")
	j.ask("my-stack", "vllm/llama3.2-8b", "hello from the model")
	j.ask("my-stack", "echo/parrot", "Hello world, 9 characters of token")
}

// ready waits until a stack is ready.
func (j *journey) ready(stack string) {
	j.t.Helper()
	j.kubectl("wait", "--namespace", namespace, "--for=condition=Ready", "llsd/"+stack,
		fmt.Sprintf("--timeout=%.0fs", patience.Seconds()))
}

// images prints the images that a stack's pods run.
func (j *journey) images(stack string) {
	j.t.Helper()
	j.kubectl("get", "pods", "--namespace", namespace, "--selector=app.kubernetes.io/instance="+stack,
		"--output=jsonpath={range .items[*]}{range .spec.initContainers[*]}{.name}: {.image}{'\\n'}{end}{range .spec.containers[*]}{.name}: {.image}{'\\n'}{end}{end}")
}

// ask sends a chat request to a model of a stack, and checks the answer.
func (j *journey) ask(stack, model, want string) {
	j.t.Helper()
	url := fmt.Sprintf("http://%s:8321/v1/chat/completions", names.Service(stack))
	body := fmt.Sprintf(`{"model": %q, "messages": [{"role": "user", "content": "hello"}]}`, model)
	testutil.Within(j.t, time.Minute, func() error {
		said, err := j.try(command{args: []string{
			"kubectl", "exec", "--namespace", namespace, "client", "--", "/standin",
			"post", "-timeout=30s", url, body,
		}, until: want})
		if err == nil && !strings.Contains(said, want) {
			err = fmt.Errorf("the answer of the model is %s", said)
		}
		return err
	})
}

// ofDockerHub is a stack that uses a Docker Hub image by its public name. The labels of the image contain the
// configuration.
const ofDockerHub = `
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: %s}
spec:
  distribution: {image: %q}
  %sproviders:
    inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
  resources: {models: [llama3.2-8b]}
  workload:
    resources: {requests: {cpu: 100m, memory: 256Mi}}
    overrides: {imagePullSecrets: [{name: mirror}]}
`

// mirrorOfTheNode checks that the operator can read an image by its name on Docker Hub, and that the node can pull the
// image by this name. The operator uses registries.rewrite, and the node uses its own settings.
func (j *journey) mirrorOfTheNode(private *privateRegistry) {
	j.t.Helper()
	j.say("Use an image of Docker Hub by its public name, with a rewrite rule in the operator and a mirror on the node")
	login := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	mirror := "https://" + private.address + "/v2/mirror"
	j.hosts("docker.io", fmt.Sprintf("server = \"https://registry-1.docker.io\"\n\n[host.%q]\ncapabilities = [\"pull\", \"resolve\"]\noverride_path = true\nca = %q\n\n[host.%q.header]\nAuthorization = \"Basic %s\"\n",
		mirror, filepath.Join(j.folder, "ca.pem"), mirror, login))
	j.apply(namespace, fmt.Sprintf(ofDockerHub, "by-name", serverImage, ""))
	j.ready("by-name")
	j.images("by-name")
	j.kubectl("get", "llsd", "by-name", "--namespace", namespace, "--output=jsonpath={.status.resolvedDistribution}{'\\n'}")
	j.ask("by-name", "vllm/llama3.2-8b", "hello from the model")
}

// withoutLabels configures the operator not to read image labels. A stack with a custom image then requires a base
// configuration, and runs with it.
func (j *journey) withoutLabels() {
	j.t.Helper()
	j.say("Disable the reading of image labels")
	j.kubectl("patch", "configmap", names.OperatorConfigMap, "--namespace", names.OperatorNamespace, "--type=merge",
		`--patch={"data":{"registries":"readLabels: false\n"}}`)

	j.apply(namespace, fmt.Sprintf(ofDockerHub, "without", serverImage, ""))
	testutil.Within(j.t, time.Minute, func() error {
		said, err := j.try(command{until: "BaseConfigRequired", args: []string{
			"kubectl", "get", "llsd", "without", "--namespace", namespace,
			"--output=jsonpath={range .status.conditions[?(@.type=='ConfigGenerated')]}{.status} {.reason}: {.message}{end}",
		}})
		if err == nil && !strings.Contains(said, "BaseConfigRequired") {
			err = fmt.Errorf("the condition is %s", said)
		}
		return err
	})
	match, err := release.Lookup(serverRelease)
	testutil.Must(j.t, err)
	base, err := corpus.LightStarter(match.Release)
	testutil.Must(j.t, err)
	j.kubectl("create", "configmap", "base", "--namespace", namespace,
		"--from-file=config.yaml="+j.write("config.yaml", string(base)))
	j.apply(namespace, fmt.Sprintf(ofDockerHub, "without", serverImage, "baseConfig: {configMapName: base}\n  "))
	j.ready("without")
	j.ask("without", "vllm/llama3.2-8b", "hello from the model")
	j.kubectl("get", "llsd", "--namespace", namespace)
}

// explain logs the state of the cluster, which helps to find the cause of a failure.
func (j *journey) explain() {
	for _, args := range [][]string{
		{"get", "pods,llsd", "--all-namespaces", "--output=wide"},
		{"get", "events", "--all-namespaces", "--sort-by=.lastTimestamp"},
		{"get", "llsd", "--all-namespaces", "--output=jsonpath={range .items[*].status.conditions[*]}{.type}={.status} {.reason}: {.message}{'\\n'}{end}"},
		{"logs", "--namespace", names.OperatorNamespace, "--selector=control-plane=controller-manager", "--tail=40"},
	} {
		said, err := j.try(command{args: append([]string{"kubectl"}, args...)})
		j.t.Logf("kubectl %s:\n%s%v", strings.Join(args, " "), said, err)
	}
}
