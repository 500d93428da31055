package image

import (
	"fmt"
	"io/fs"
	"strings"
)

// user is the user of an image.
type user struct {
	name     string
	uid, gid int
	home     string
}

// users returns the files with the names of the users and groups, for root and the user of the image. It also returns
// /tmp and the home folder of this user.
func users(u user) []Entry {
	var passwd, group strings.Builder
	for _, each := range []user{{"root", root, root, "/root"}, u} {
		fmt.Fprintf(&passwd, "%s:x:%d:%d:%s:%s:/sbin/nologin\n", each.name, each.uid, each.gid, each.name, each.home)
		if each.gid != root || each.uid == root {
			fmt.Fprintf(&group, "%s:x:%d:\n", each.name, each.gid)
		}
	}
	return []Entry{
		Content{Path: "/etc/passwd", Mode: 0o644, Content: []byte(passwd.String())},
		Content{Path: "/etc/group", Mode: 0o644, Content: []byte(group.String())},
		Directory{Path: "/tmp", Mode: fs.ModeSticky | 0o777},
		Directory{Path: u.home, Mode: 0o775, UID: u.uid, GID: u.gid},
	}
}

// id returns the user and the group in the form that an image's configuration requires.
func (u user) id() string { return fmt.Sprintf("%d:%d", u.uid, u.gid) }
