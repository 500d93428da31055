package convert

// path is a path through JSON objects.
type path []string

// lookup returns the value at a path. It opens the objects on the path in place.
func (o *object) lookup(p path) value {
	last := len(p) - 1
	for _, step := range p[:last] {
		i := o.find(step)
		if i < 0 {
			return value{}
		}
		o = o.open(i)
	}
	return o.get(p[last])
}

// objectAt opens the object at a path in place, and returns it. It returns nil if there is none.
func (o *object) objectAt(p ...string) *object {
	for _, step := range p {
		i := o.find(step)
		if i < 0 {
			return nil
		}
		o = o.open(i)
	}
	return o
}

// listAt opens the list at a path in place, and returns it. It returns nil if there is none.
func (o *object) listAt(p ...string) *list {
	last := len(p) - 1
	parent := o.objectAt(p[:last]...)
	i := parent.find(p[last])
	if i < 0 {
		return nil
	}
	return parent.members[i].value.openList()
}

// setAt writes a value and creates the objects on the path. If the path contains a value of a different type, it writes
// nothing. Only a damaged annotation contains such a path.
func (o *object) setAt(p path, v value) {
	last := len(p) - 1
	for _, step := range p[:last] {
		i := o.find(step)
		if i < 0 {
			i = len(o.members)
			o.set(step, value{object: o.another()})
		}
		if o = o.open(i); o == nil {
			return
		}
	}
	o.set(p[last], v)
}

// deleteAt removes the value at a path.
func (o *object) deleteAt(p path) {
	last := len(p) - 1
	if parent := o.objectAt(p[:last]...); parent != nil {
		parent.delete(p[last])
	}
}
