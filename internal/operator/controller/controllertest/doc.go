// Package controllertest provides the environment for the tests of package controller: a namespace on a real API
// server, operators that run in it, and functions that change and check stacks. It also simulates the parts of a
// cluster that do not run in tests, such as kubelets, the Deployment controller, image registries, and stack servers.
// Only tests import it.
//
// The package controller has three kinds of tests. Use the smallest kind that covers your change.
//
// # A single step
//
// The test runs the steps of a reconcile up to the step under test, without an API server. Because the steps are not
// exported, the fixture for such tests is in internal/operator/controller/fixture_test.go:
//
//	f := newFixture(t, objects...)
//	s, err := f.runSteps(t, newStack(t, `{distribution: {name: starter}}`), "plan")
//
// # A reconcile
//
// The test itself reconciles whenever it waits for something, so nothing else runs at the same time. The reconciler has
// the shipped permissions:
//
//	env := controllertest.NewEnvironment(t)
//	env.StartReconciler(t, "example")
//	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
//	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
//	env.MarkDeploymentReady(t, "my")
//	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
//
// With OwnOperatorConfig, the reconciler reads the operator's ConfigMap in the test's namespace. With Workers, it
// queries servers and reads images in the background.
//
// # An operator
//
// A whole operator runs during the test, with its watches, caches and workers. Use it only for tests that need these
// components, that count calls, or that check that stacks are requeued:
//
//	env := controllertest.NewEnvironment(t)
//	env.OwnOperatorConfig = true
//	env.StartOperator(t, "example")
//	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: registry.example.com/starter:1")
//	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
//	env.WaitForImage(t, "my", "registry.example.com/starter:1", v1alpha2.ImageFromOperatorConfig)
//	calls := env.WaitUntilIdle(t, "example")
//
// # Names
//
// Methods that begin with WaitFor poll until a state is reached, and fail the test after Timeout. Methods that begin
// with Check compare once and do not poll. Methods that begin with Create, Update, Set or Mark write objects. Methods
// that begin with List return the existing objects.
package controllertest
