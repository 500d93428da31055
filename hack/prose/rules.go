package main

import "regexp"

// rule is a pattern that a text must not match.
type rule struct {
	name string
	// pattern must not match in any sentence, apart from the words that except allows.
	pattern *regexp.Regexp
	// except matches words that the rule allows although the pattern matches. Nil means that there are no exceptions.
	except *regexp.Regexp
	// kinds lists the kinds of texts to which the rule applies. Nil means all kinds.
	kinds []kind
	// advice contains the words to write instead.
	advice string
}

// actor matches a program as the subject of a sentence.
const actor = `(?:operator|server|controller|webhook|program|command|code|function|step|package|test|kubelet|cluster|registry|API server)`

// british matches words in British spelling.
const british = `(?:(?:un|re)?label|cancel|signal|model|travel)l(?:ed|ing)|` +
	`(?:behavi|col|fav|hon|neighb)our(?:s|ed|ing|able|ite)?|catalogues|dialogues?|artefacts?|centres?|grey|` +
	`(?:low|upp)er-case|(?:lic|def|off)ences?|judgements?|programmes?|fulfils?|whilst|learnt|spelt|` +
	`(?:author|categor|custom|emphas|final|initial|maxim|minim|normal|optim|organ|priorit|recogn|serial|summar|` +
	`synchron|util)is(?:e[ds]?|ing|ations?)`

// rules lists the linter's rules, which follow the style guide of the Kubernetes documentation.
var rules = []rule{
	{
		name:    "headless clause",
		pattern: regexp.MustCompile(`(?:^|[;:] )(?:[Ww]hat|[Ww]ho|[Ww]hose) (?:is|are|was|were|has|have|does|do|did|can|cannot|may|needs|wants|stands|holds|asks|reads|writes|gives|runs|sets|removes|uses)\b[^?]*$`),
		advice:  `begin with a noun: "Entries that are not certificates …", "A user who …"`,
	},
	{
		name:    "no as an adjective",
		pattern: regexp.MustCompile(`(?i)(?:\b\w+ )?\b(?:is|are|was|were|be) no \w+`),
		except:  regexp.MustCompile(`(?i)^there |\bno (?:longer|more|less|fewer|later|earlier|different|other)$`),
		advice:  `write "is not a …" or "has no …"`,
	},
	{
		name:    "nobody",
		pattern: regexp.MustCompile(`(?i)\b(?:nobody|somebody|anybody|whoever|whomever|whichever|whosoever)\b`),
		advice:  "name the subject: you, the user, the client, the operator",
	},
	{
		name:    "told",
		pattern: regexp.MustCompile(`(?i)\b(?:is|are|be|was|were|been) told\b|\btells\b|\btell (?:whether|that|what|which|who|how|it|them|the|a)\b`),
		advice:  `write "reports", "shows", "specifies" or "warns"`,
	},
	{
		name:    "says that",
		pattern: regexp.MustCompile(`(?i)\bsays? (?:that|whether|so|what|how|which)\b`),
		advice:  `write "reports whether", "states that" or "shows"`,
	},
	{
		name:    "a program that knows",
		pattern: regexp.MustCompile(`(?i)\b` + actor + ` (?:itself )?(?:knows|wants|thinks|believes|likes|hopes|forgets|minds|wishes|hurts|never knows|does not know|does not want)\b`),
		advice:  `write that the program has, reads, requires or expects something`,
	},
	{
		name:    "stands",
		pattern: regexp.MustCompile(`(?i)\b(?:stands?|standing|stood) (?:in|at|on|there|here|alone|beside|between|under|above|below|first|last|still|behind|before|after)\b`),
		advice:  `write "is", "means" or "represents"`,
	},
	{
		name:    "lies",
		pattern: regexp.MustCompile(`(?i)\blies? (?:in|at|on|beside|below|above|under|there|behind|between|within)\b`),
		advice:  `write "is in"`,
	},
	{
		name:    "translated verb",
		pattern: regexp.MustCompile(`(?i)\bbrings? (?:along|into being|back)\b|\b(?:goes|go|went|gone) away\b|\bc[oa]mes? back\b|\bcame back\b|\bcomes? home\b|\bway forth\b|\bcomes? into being\b`),
		advice:  `write "includes", "creates", "ends", "returns" or "recovers"`,
	},
	{
		name:    "translated word",
		pattern: regexp.MustCompile(`(?i)\b(?:beside|mend|mends|mended|mending|wish|wishes|heed|heeds|lest|hence|thus|thereof|therein|whereby|thereby|henceforth|likewise|thereupon|hitherto|forth|besides)\b`),
		advice:  `write "next to", "fix", "request", "so" or "also"`,
	},
	{
		name:    "riddle",
		pattern: regexp.MustCompile(`(?i)\bnothing but\b|\bnone of its business\b|\bin vain\b|\bfor want of\b|\bnever ever\b|\bas if by\b|\bthe day (?:it|that|when)\b|\bat rest\b`),
		advice:  `write "only", "unrelated", "without effect" or "idle"`,
	},
	{
		name:    "Latin",
		pattern: regexp.MustCompile(`(?i)(?:^|[ (])(?:e\.g\.|i\.e\.|etc\b|viz\.|cf\.|via\b)`),
		advice:  `write "for example", "that is", "and so on" or "through"`,
	},
	{
		name:    "British spelling",
		pattern: regexp.MustCompile(`(?i)\b(?:` + british + `)\b`),
		advice:  `write U.S. English: "labeled", "canceled", "behavior", "catalog", "initialize", "lowercase"`,
	},
	{
		name:    "ID in lowercase",
		pattern: regexp.MustCompile(`\b(?:[Tt]he|[Aa]n|[Aa]nother|different|each|[Ii]ts|new|no|other|own|[Pp]rovider|same|their|this|unique|valid|without|[a-z]+'s) ids?\b|\bIds\b`),
		advice:  `write "ID" or "IDs"; a field is "the field id"`,
	},
	{
		name:    "filler",
		pattern: regexp.MustCompile(`(?i)\b(?:please|simply|obviously|easily|of course|actually|basically)\b`),
		advice:  "remove the word",
	},
	{
		name:    "value without a verb",
		pattern: regexp.MustCompile(`^(?:Zero|Nil|Empty|None|True|False|Default|0|nil|true|false): `),
		kinds:   []kind{comment},
		advice:  `write "Zero means …"`,
	},
	{
		name:    "godoc",
		pattern: regexp.MustCompile(`^[a-zA-Z]\w* (?:says|gives|tells|knows) (?:the|a|an|all|what|how|which|where|why|if|whether|that)\b`),
		kinds:   []kind{comment},
		advice:  `write "X returns …" or "X reports whether …"`,
	},
	{
		name:    "we",
		pattern: regexp.MustCompile(`(?i)(?:^|\s)(?:we|our|ours|us|let's)(?:$|[\s.,;:])`),
		kinds:   []kind{message, page},
		advice:  `name the subject, or write "you"`,
	},
	{
		name:    "page outside the repository",
		pattern: regexp.MustCompile(`\b(?:SERVER|ENGINE|API|CLUSTER|STYLE)\.md\b`),
		advice:  "state the fact, or cite a page in docs/",
	},
}
