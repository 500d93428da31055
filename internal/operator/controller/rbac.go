package controller

// The operator's permissions follow the principle of least privilege and allow only actions that the operator takes.
// The operator reads users' Secrets by name and watches only their metadata, but RBAC cannot grant access to the
// metadata alone, so the rules allow the operator to list and watch whole Secrets. The operator never deletes a claim.
// However, if the admission plugin OwnerReferencesPermissionEnforcement is enabled, as in OpenShift, a client needs
// permission to delete an object before it can change the owners of the object. The operator changes the owners of a
// claim for retainOnDelete, and when it adopts a claim again. The operator creates and deletes pods only for
// preflights. The webhook creates and patches objects of all these kinds as a dry run.

// +kubebuilder:rbac:groups=llamastack.io,resources=llamastackdistributions,verbs=get;list;watch
// +kubebuilder:rbac:groups=llamastack.io,resources=llamastackdistributions/status,verbs=patch
// +kubebuilder:rbac:groups=llamastack.io,resources=llamastackdistributions/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=events,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get
// +kubebuilder:rbac:groups="",resources=configmaps;secrets;services;serviceaccounts,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses;networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=gateway.networking.k8s.io,resources=backendtlspolicies;httproutes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=route.openshift.io,resources=routes,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=route.openshift.io,resources=routes/custom-host,verbs=create;update
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=backendtlspolicies.gateway.networking.k8s.io;httproutes.gateway.networking.k8s.io;imagecontentsourcepolicies.operator.openshift.io;imagedigestmirrorsets.config.openshift.io;imagetagmirrorsets.config.openshift.io;routes.route.openshift.io,verbs=list;watch
// +kubebuilder:rbac:groups=config.openshift.io,resources=imagedigestmirrorsets;imagetagmirrorsets,verbs=list;watch
// +kubebuilder:rbac:groups=operator.openshift.io,resources=imagecontentsourcepolicies,verbs=list;watch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
