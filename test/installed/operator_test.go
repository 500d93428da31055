package installed

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// operator is a running operator process that a test started as the operator's Deployment specifies.
type operator struct {
	user      string // the operator's user name in the API server
	namespace string
	log       testutil.Log
	command   *exec.Cmd
}

// start runs the operator binary as its Deployment specifies. The test does this itself, because the cluster has no
// kubelet.
func (c *cluster) start(t *testing.T, deployment *appsv1.Deployment) *operator {
	t.Helper()
	pod := &deployment.Spec.Template.Spec
	container := &pod.Containers[0]
	o := &operator{
		namespace: deployment.Namespace, user: "system:serviceaccount:" + deployment.Namespace + ":" + pod.ServiceAccountName,
	}
	arguments := append(slices.Clone(container.Args), "--kubeconfig="+c.kubeconfigOf(t, deployment.Namespace,
		pod.ServiceAccountName),
		"--health-probe-bind-address=127.0.0.1:0")
	for i, argument := range arguments {
		for _, flag := range []string{"--metrics-cert-path=", "--webhook-cert-path="} {
			if path, found := strings.CutPrefix(argument, flag); found {
				arguments[i] = flag + certificate(t, pod, container, path)
			}
		}
	}
	if !slices.Contains(arguments, "--metrics-bind-address=0") {
		arguments = append(arguments, "--metrics-bind-address=127.0.0.1:0")
	}
	if !slices.Contains(arguments, "--webhook-bind-address=0") {
		arguments = append(arguments, "--webhook-bind-address="+testutil.FreeAddress(t))
	}
	o.command = exec.CommandContext(t.Context(), c.program, arguments...)
	o.command.Env = variables(t, deployment.Namespace, container)
	o.command.Stdout, o.command.Stderr = &o.log, &o.log
	o.command.WaitDelay = 10 * time.Second
	testutil.Must(t, o.command.Start())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the operator:\n%s", o.log.String())
		}
	})
	return o
}

// stop stops the process as the kubelet does.
func (o *operator) stop(t *testing.T) {
	t.Helper()
	testutil.Must(t, o.command.Process.Signal(syscall.SIGTERM))
	if err := o.command.Wait(); err != nil {
		t.Errorf("the operator ended with: %v", err)
	}
}

// kubeconfigOf returns the path of a kubeconfig whose only credential is a token of the ServiceAccount.
func (c *cluster) kubeconfigOf(t *testing.T, namespace, account string) string {
	t.Helper()
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	var request authenticationv1.TokenRequest
	testutil.Must(t, c.SubResource("token").Create(t.Context(), owner, &request))
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{
		Server:                   c.Plane.Config.Host,
		CertificateAuthorityData: c.Plane.Config.CAData,
	}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	testutil.Must(t, clientcmd.WriteToFile(*config, file))
	return file
}

// variables returns the environment variables of the container, and no variables of this process.
func variables(t *testing.T, namespace string, container *corev1.Container) []string {
	t.Helper()
	var variables []string
	for _, variable := range container.Env {
		value := variable.Value
		switch from := variable.ValueFrom; {
		case from == nil:
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
			value = namespace
		default:
			t.Fatalf("variable %s: the test cannot set its value: %v", variable.Name, from)
		}
		variables = append(variables, variable.Name+"="+value)
	}
	return variables
}

// certificate creates a folder with a certificate and its key, in place of the Secret that the pod mounts at a path. It
// returns the folder.
func certificate(t *testing.T, pod *corev1.PodSpec, container *corev1.Container, path string) string {
	t.Helper()
	mount := slices.IndexFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path })
	if mount < 0 || !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
		return v.Name == container.VolumeMounts[mount].Name && v.Secret != nil
	}) {
		t.Fatalf("nothing is mounted at %s", path)
	}
	folder := t.TempDir()
	public, private := testutil.NewCertificate(t, time.Now().Add(24*time.Hour))
	for name, data := range map[string][]byte{corev1.TLSCertKey: public, corev1.TLSPrivateKeyKey: private} {
		testutil.Must(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	return folder
}

// deployment returns the only Deployment in a namespace.
func (c *cluster) deployment(t *testing.T, namespace string) *appsv1.Deployment {
	t.Helper()
	var deployments appsv1.DeploymentList
	testutil.Must(t, c.List(t.Context(), &deployments, client.InNamespace(namespace)))
	if n := len(deployments.Items); n != 1 {
		t.Fatalf("%d Deployments in %s, want one", n, namespace)
	}
	return &deployments.Items[0]
}
