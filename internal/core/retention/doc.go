// Package retention finds where the data of a stack is stored, and which parts of it a change to the spec leaves
// behind. Of determines the places from the configuration of a server and from its pod. Compare lists the data that the
// server no longer finds after a change. Both functions are pure. Package rollout stores the places of the running
// stack in an annotation of the Deployment, so that a comparison does not read any other object.
//
// Places contains paths, addresses and names, and references to Secrets, but never a secret value. A place that cannot
// be determined counts as unchanged, so that Compare does not report a loss that might not occur. The exception is a
// path in the home directory of an image, which is unknown: Compare reports that it is not known whether the data is
// kept. OffVolume reports data that is not on a volume, or not with certainty, without a change.
//
// A Loss is Final if the data cannot be recovered. The rollout then waits until the user accepts the loss. Every other
// Loss is reported, and the rollout continues:
//
//	change                                    reported   waits   reason
//	another type, server, database or table   yes        no      the previous store still has the data
//	another Secret for a connection           yes        no      it may refer to the same database; changes inside
//	                                                             a Secret cannot be detected and are not reported
//	workload.storage removed                  yes        no      the PersistentVolumeClaim remains
//	workload.storage added                    yes        no      every rollout deletes the files in the pod anyway
//	another mountPath                         yes        no      most files move with the mount path; the others are
//	                                                             still on the volume
//	another default directory of a release    yes        no      the data is still on the volume
//	a vector provider renamed or removed,     yes        no      the data of the provider remains, and so do the
//	or of another type, or its API disabled                      entries of its vector stores, which the previous
//	                                                             provider can read again
//	the files provider removed                yes        no      the previous provider can read the data again
//	a kind of data in another kind of store   yes        no      the previous release can read the data again
//	back below 1.0 with SQLite                yes        no      the newer release can read the data again
//	from below 1.0 with SQLite, without a     yes        yes     only the pods of a generated configuration rename
//	generated configuration                                      the keys, so the server finds no vector store
//	faiss from 0.3 to 0.4 or later            yes        yes     the server does not start with the data, and only
//	                                                             the API of 0.3 can delete the data
//	another public ID of an embedding model   yes        yes     searches in vector stores that keep the ID fail
//	another public ID of a forbidden model    yes        yes     the access rule does not protect the model
//	another public ID of a permitted model    yes        no      clients receive an error
package retention
