package ogxserver

import "regexp"

// storage converts the stores of the server's state. An OGXServer with spec.storage has a key-value store and an SQL
// store. A store that is not set uses SQLite.
func (c *conversion) storage() {
	if c.get("spec.storage") == nil {
		return
	}
	sqlite := false
	for _, store := range []string{"kv", "sql"} {
		field := "spec.storage." + store
		c.put("sqlite", "spec", "storage", store, "type")
		c.move(field+".type", field+".type")
		sqlite = sqlite || c.text(field+".type") == "" || c.text(field+".type") == "sqlite"
	}
	c.move("spec.storage.kv.endpoint", "spec.storage.kv.endpoint")
	c.reference("spec.storage.kv.password")
	c.reference("spec.storage.sql.connectionString")
	c.redis()
	if sqlite && c.get("spec.workload.storage") != nil {
		c.differs("An OGXServer with spec.storage stores the SQLite data in the files /.ogx/kvstore.db and /.ogx/sqlstore.db. "+
			"This stack stores the data on the volume, in the directory that the configuration sets. "+
			"To keep the data, follow docs/how-to/migrate-from-ogx.md.", "spec", "storage")
	}
}

// reference moves a reference to a key of a Secret.
func (c *conversion) reference(field string) {
	if value := c.get(field); value != nil {
		c.put(c.secret(value, path(field), path(field)), path(field)...)
	}
}

// hostAndPort matches the Redis addresses that the operator accepts.
var hostAndPort = regexp.MustCompile(`^(redis://)?([a-zA-Z0-9._-]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?(/0?)?$`)

// redis warns about a Redis address that the operator rejects. The warning does not contain the address, which may
// contain a password.
func (c *conversion) redis() {
	if endpoint := c.text("spec.storage.kv.endpoint"); endpoint != "" && !hostAndPort.MatchString(endpoint) {
		c.differs("The operator accepts only host:port or redis://host:port, and rejects this value. "+
			"Use one of these forms, store any password in a Secret, and refer to that Secret in the field password.",
			"spec", "storage", "kv", "endpoint")
	}
}
