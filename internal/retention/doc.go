// Package retention finds where the data of a stack lies, and which of it a change of the spec leaves behind. Of reads
// the places out of a configuration and the pod that runs it. Compare lists what the places of a change no longer lead
// to. Both are pure. The places of what runs are kept in the record of the Deployment, so that nobody has to read
// anything to compare.
//
// Places hold paths, addresses and names, and references to Secrets, never a value of one. What nobody can tell is
// taken for unchanged: a user is told what is certain, and nothing else.
//
// A Loss is Final where nothing brings the data back; then the roll-out waits until the user accepts it. Every other
// Loss is told, and the roll-out goes on:
//
//	change                                      told   waits   why
//	another type, server, database or table      yes    no     the earlier one still has the data: write it back
//	another Secret for a connection              yes    no     it may be the same database; what changes inside of a
//	                                                           Secret nobody can see, and nothing is said of it
//	workload.storage switched off                yes    no     the claim stays
//	workload.storage switched on                 yes    no     the pod's own files go at every roll-out
//	another mountPath                            yes    no     files move along; what does not is on the volume still
//	another default directory of a release       yes    no     it is on the volume still
//	a vector provider renamed or removed,        yes    no     its content stays, and so do the entries of its vector
//	or of another type, or its API disabled                    stores: the earlier provider brings them back
//	the files provider removed                   yes    no     the same
//	a kind of data in another kind of store      yes    no     the earlier release finds it again
//	back below 1.0 with SQLite                   yes    no     the newer release finds it again
//	faiss from 0.3 to 0.4 or later               yes    yes    the server does not start on the content, whatever one
//	                                                           does, and what it is deleted with is the API of 0.3
package retention
