package controller_test

import (
	"os"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/controller"
	"github.com/llamastack/llama-stack-k8s-operator/internal/controller/controllertest"
)

func TestMain(m *testing.M) {
	os.Exit(controllertest.Main(m, controller.NewDirect, controller.StartWorkers))
}
