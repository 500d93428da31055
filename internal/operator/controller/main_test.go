package controller_test

import (
	"os"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

func TestMain(m *testing.M) {
	os.Exit(controllertest.Main(m, controller.NewDirect, controller.StartWorkers))
}
