// Package retention finds where the data of a stack is stored, and which parts of it a change of the spec leaves
// behind. Of reads the places from a configuration and the pod that runs it. Compare lists the data that the places of
// a change no longer lead to. Both are pure. The places of the running stack are kept in the record of the Deployment,
// so that a comparison reads nothing.
//
// Places contains paths, addresses and names, and references to Secrets, but never a secret value. A place that cannot
// be determined counts as unchanged, so that a loss is reported only if it is certain.
//
// A Loss is Final if nothing brings the data back. The rollout then waits until the user accepts it. Every other Loss
// is reported, and the rollout continues (decision 0023):
//
//	change                                      told   waits   why
//	another type, server, database or table      yes    no     the earlier one still has the data: write it back
//	another Secret for a connection              yes    no     it may be the same database; changes inside a Secret
//	                                                           cannot be seen and are not reported
//	workload.storage switched off                yes    no     the claim stays
//	workload.storage switched on                 yes    no     the pod's own files go at every rollout
//	another mountPath                            yes    no     files move along; the others are still on the volume
//	another default directory of a release       yes    no     the data is still on the volume
//	a vector provider renamed or removed,        yes    no     its content stays, and so do the entries of its vector
//	or of another type, or its API disabled                    stores: the earlier provider brings them back
//	the files provider removed                   yes    no     the same
//	a kind of data in another kind of store      yes    no     the earlier release finds it again
//	back below 1.0 with SQLite                   yes    no     the newer release finds it again
//	faiss from 0.3 to 0.4 or later               yes    yes    the server does not start with the content, and only the
//	                                                           API of 0.3 can delete it
package retention
