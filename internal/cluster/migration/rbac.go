package migration

// The following markers declare the permissions that the operator needs for a migration. The operator never changes the
// storage version.

// +kubebuilder:rbac:groups=llamastack.io,resources=llamastackdistributions,verbs=list;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=llamastackdistributions.llamastack.io,verbs=get;list;watch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions/status,resourceNames=llamastackdistributions.llamastack.io,verbs=patch
