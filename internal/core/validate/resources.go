package validate

// maxResources is the maximum number of models, of tools and of shields in an object.
const maxResources = 500

func resourceCount(c *checks) {
	r := orZero(c.Spec.Resources)
	c.atMost(spec("resources", "models"), len(r.Models), maxResources)
	c.atMost(spec("resources", "tools"), len(r.Tools), maxResources)
	c.atMost(spec("resources", "shields"), len(r.Shields), maxResources)
}
