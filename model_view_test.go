package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kith/social"
)

// player is somebody of the model of relations, with a blog that was there before anybody
// followed anybody.
type player struct {
	person
	handle, blog string
}

// object is what an answer holds, as JSON reads it.
type object = map[string]any

const (
	listFields = `fragment L on UserConnection { totalCount nodes { id } edges { since node { id } } pageInfo { hasNextPage hasPreviousPage } } `
	// playerFields are all that there is to see of how a person stands to others.
	playerFields = `fragment P on User { id isPrivate followerCount followingCount blogCount
		viewerIsFollowing isFollowingViewer isMutual viewerHasRequestedFollow viewerIsBlocking viewerIsMuting viewerCanFollow
		followers(first: $n) { ...L } following(first: $n) { ...L } mutualFollows(first: $n) { ...L } followersYouKnow(first: $n) { ...L }
		blogs { nodes { id } } } `
	ownFields = ` viewer { ...P } followFeed { nodes { id } }
		followRequests(first: $n) { ...L } blockedUsers(first: $n) { ...L } mutedUsers(first: $n) { ...L }`
)

// question asks for all that somebody may see of the players, by every path.
func question(players []player, isSignedIn bool) string {
	var q strings.Builder
	q.WriteString(listFields + playerFields + `query($n: Int!, $ids: [ID!]!, $prefix: String!) {
		nodes(ids: $ids) { ... on User { ...P } ... on Blog { id } } searchUsers(handlePrefix: $prefix) { ...L }`)
	for i, p := range players {
		fmt.Fprintf(&q, " u%d: user(handle: %q) { id } b%[1]d: blog(id: %[3]q) { author { id } }", i, p.handle, p.blog)
	}
	if isSignedIn {
		q.WriteString(ownFields)
	}
	return q.String() + "}"
}

// view is what the question must be answered to the viewer, 0 for nobody.
func (b *bonds) view(players []player, viewer social.ID, n int) object {
	var nodes, blogs []any
	var found []social.Peer
	answer := object{}
	for i, p := range players {
		sight := b.see(viewer, p.id)
		nodes = append(nodes, b.profile(players, viewer, p, n))
		var blog, named, authored any
		if sight > social.Nothing {
			named = object{"id": p.gid}
		}
		if sight == social.Everything {
			blog, authored = object{"id": p.blog}, object{"author": object{"id": p.gid}}
		}
		blogs = append(blogs, blog)
		answer[fmt.Sprint("u", i)], answer[fmt.Sprint("b", i)] = named, authored
		found = append(found, social.Peer{ID: p.id}) // players are in the order of their handles
		if p.id == viewer {
			answer["viewer"] = nodes[i]
		}
	}
	search := b.listed(viewer, found, social.Profile, len(found))
	for _, e := range search["edges"].([]any) {
		e.(object)["since"] = nil
	}
	answer["nodes"], answer["searchUsers"] = append(nodes, blogs...), search
	if viewer != 0 {
		answer["followFeed"] = object{"nodes": b.feed(players, viewer)}
		answer["followRequests"] = b.listed(viewer, b.list("followRequests", viewer, viewer), social.Profile, n)
		answer["mutedUsers"] = b.listed(viewer, b.list("mutedUsers", viewer, viewer), social.Profile, n)
		answer["blockedUsers"] = b.listed(viewer, b.list("blockedUsers", viewer, viewer), social.Name, n)
	}
	return answer
}

// feed is the viewer's, newest first.
func (b *bonds) feed(players []player, viewer social.ID) []any {
	nodes := []any{}
	for _, p := range slices.Backward(players) {
		if b.feeds(social.Pair{UserID: viewer, TargetID: p.id}) {
			nodes = append(nodes, object{"id": p.blog})
		}
	}
	return nodes
}

// profile is what the viewer sees of somebody.
func (b *bonds) profile(players []player, viewer social.ID, of player, n int) any {
	sight := b.see(viewer, of.id)
	if sight == social.Nothing {
		return nil
	}
	mine := social.Pair{UserID: viewer, TargetID: of.id}
	asked := b.edges[mine].State == social.Requested
	blogs := []any{}
	if sight == social.Everything {
		blogs = append(blogs, object{"id": of.blog})
	}
	p := object{
		"id": of.gid, "isPrivate": b.private[of.id], "blogCount": 1, "blogs": object{"nodes": blogs},
		"followerCount": len(b.list("followers", viewer, of.id)), "followingCount": len(b.list("following", viewer, of.id)),
		"viewerIsFollowing": b.follows(mine), "isFollowingViewer": b.follows(mine.Reversed()), "isMutual": b.follows(mine) && b.follows(mine.Reversed()),
		"viewerHasRequestedFollow": asked, "viewerIsBlocking": has(b.blocks, mine), "viewerIsMuting": has(b.mutes, mine),
		"viewerCanFollow": viewer != 0 && viewer != of.id && !b.follows(mine) && !asked && !has(b.blocks, mine),
	}
	for _, name := range []string{"followers", "following", "mutualFollows", "followersYouKnow"} {
		rows := b.list(name, viewer, of.id)
		if sight == social.Everything {
			p[name] = b.listed(viewer, rows, social.Profile, n)
			continue
		}
		total := 0
		if isOf(name, "followers", "following") { // the same for everybody
			total = len(rows)
		}
		p[name] = object{"totalCount": total, "nodes": []any{}, "edges": []any{}, "pageInfo": object{"hasNextPage": false, "hasPreviousPage": false}}
	}
	return p
}

// list is a whole list of somebody's, latest first.
func (b *bonds) list(name string, viewer, of social.ID) (rows []social.Peer) {
	for p, e := range b.edges {
		var isIn bool
		peer := social.Peer{ID: p.TargetID, Since: e.Since}
		switch name {
		case "followers":
			isIn, peer.ID = p.TargetID == of && b.follows(p), p.UserID
		case "followRequests":
			isIn, peer.ID = p.TargetID == of && e.State == social.Requested, p.UserID
		case "following":
			isIn = p.UserID == of && b.follows(p)
		case "mutualFollows":
			isIn = p.UserID == viewer && b.follows(p) && b.follows(social.Pair{UserID: of, TargetID: p.TargetID})
		case "followersYouKnow":
			isIn = p.UserID == viewer && b.follows(p) && b.follows(social.Pair{UserID: p.TargetID, TargetID: of})
		}
		if isIn {
			rows = append(rows, peer)
		}
	}
	for p, since := range map[string]map[social.Pair]social.Millis{"blockedUsers": b.blocks, "mutedUsers": b.mutes}[name] {
		if p.UserID == of {
			rows = append(rows, social.Peer{ID: p.TargetID, Since: since})
		}
	}
	slices.SortFunc(rows, func(x, y social.Peer) int {
		return -cmp.Or(cmp.Compare(x.Since, y.Since), cmp.Compare(x.ID, y.ID))
	})
	return rows
}

// listed is the first page of a list, without those of whom the viewer sees too little.
func (b *bonds) listed(viewer social.ID, rows []social.Peer, least social.Sight, n int) object {
	nodes, edges := []any{}, []any{}
	for _, p := range rows[:min(n, len(rows))] {
		if b.see(viewer, p.ID) >= least {
			node := object{"id": social.GlobalID(social.UserNode, p.ID)}
			nodes, edges = append(nodes, node), append(edges, object{"node": node, "since": p.Since.Time().Format("2006-01-02T15:04:05.000Z")})
		}
	}
	return object{"totalCount": len(rows), "nodes": nodes, "edges": edges, "pageInfo": object{"hasNextPage": len(rows) > n, "hasPreviousPage": false}}
}

// difference tells where two values of JSON differ; empty where they do not.
func difference(at string, got, want any) string {
	g, isObject := got.(object)
	w, wanted := want.(object)
	if isObject && wanted {
		for k := range w {
			if d := difference(at+"."+k, g[k], w[k]); d != "" {
				return d
			}
		}
		return ""
	}
	gs, isList := got.([]any)
	ws, wantsList := want.([]any)
	if isList && wantsList && len(gs) == len(ws) {
		for i := range ws {
			if d := difference(fmt.Sprintf("%s.%d", at, i), gs[i], ws[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if x, y := text(got), text(want); x != y {
		return fmt.Sprintf("%s is %s, want %s", at, x, y)
	}
	return ""
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// withoutKept takes out of a view what a server may keep in process: the counts, the
// followers, and whether somebody is private, but not what follows from that.
func withoutKept(v any) any {
	switch v := v.(type) {
	case object:
		for k, x := range v {
			switch {
			case isOf(k, "isPrivate", "followerCount", "followingCount", "blogCount", "followers"):
				delete(v, k)
			case k == "following" && x != nil:
				delete(x.(object), "totalCount")
			default:
				withoutKept(x)
			}
		}
	case []any:
		for _, x := range v {
			withoutKept(x)
		}
	}
	return v
}
