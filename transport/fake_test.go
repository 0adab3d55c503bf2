package transport

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"kith/graph"
	"kith/social"
)

// unasked has the fields that no test here asks for.
type unasked struct {
	graph.QueryResolver
	graph.MutationResolver
}

// fake is a graph.ResolverRoot in memory: everybody exists, and calls are counted.
type fake struct {
	unasked
	// userErr is what Query.user gives instead of a person; panics if userPanic is set.
	userErr   func(ctx context.Context) error
	userPanic any
	// calls counts the root resolvers that ran, follows those that changed something.
	calls, follows atomic.Int32
	mu             sync.Mutex
	handles        []string
	bio            string
	// content is that of the blogs that everybody has; none if empty.
	content string
	// lists counts the lists below a person that were read.
	lists atomic.Int32
	// feed is what subscriptions get, one after another; they end when it is closed. With
	// feedErr they are refused. open counts those that have not been given back.
	feed    chan *graph.BlogEdge
	feedErr error
	open    atomic.Int32
	since   []string // of each, in their order
}

func (f *fake) Query() graph.QueryResolver                   { return fakeQuery{f} }
func (f *fake) Mutation() graph.MutationResolver             { return f }
func (f *fake) Subscription() graph.SubscriptionResolver     { return f }
func (f *fake) User() graph.UserResolver                     { return fakeUser{f: f} }
func (f *fake) Blog() graph.BlogResolver                     { return fakeBlog{f} }
func (f *fake) UserConnection() graph.UserConnectionResolver { return fakeUsers{} }

// Nothing here asks for notifications.
func (f *fake) Notification() graph.NotificationResolver { return nil }

func (f *fake) NotificationConnection() graph.NotificationConnectionResolver { return nil }

func (f *fake) NotificationUpdated(context.Context) (<-chan *graph.NotificationUpdate, error) {
	return nil, nil //nolint:nilnil // never asked
}

func (f *fake) FeedItemAdded(ctx context.Context, since *string) (<-chan *graph.BlogEdge, error) {
	f.calls.Add(1)
	if f.feedErr != nil {
		return nil, f.feedErr
	}
	f.mu.Lock()
	if since == nil {
		since = new(string)
	}
	f.since = append(f.since, *since)
	f.mu.Unlock()
	edges := make(chan *graph.BlogEdge)
	f.open.Add(1)
	go func() {
		defer f.open.Add(-1)
		defer close(edges)
		for {
			select {
			case e, more := <-f.feed:
				if !more {
					return
				}
				select {
				case edges <- e:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return edges, nil
}

func (f *fake) person(handle string) *social.User {
	return &social.User{ID: 7, Handle: handle, Name: handle, Bio: f.bio}
}

func (f *fake) Node(context.Context, string) (graph.Node, error) {
	f.calls.Add(1)
	return f.person("ada"), nil
}

func (f *fake) Nodes(_ context.Context, ids []string) ([]graph.Node, error) {
	f.calls.Add(1)
	return make([]graph.Node, len(ids)), nil
}

func (f *fake) Viewer(ctx context.Context) (*social.User, error) {
	f.calls.Add(1)
	id := social.Viewer(ctx)
	if id == 0 {
		return nil, nil
	}
	return &social.User{ID: id, Handle: "viewer"}, nil
}

func (f *fake) UserByHandle(ctx context.Context, handle string) (*social.User, error) {
	f.calls.Add(1)
	f.mu.Lock()
	f.handles = append(f.handles, handle)
	f.mu.Unlock()
	if f.userPanic != nil {
		panic(f.userPanic)
	}
	if f.userErr != nil {
		return nil, f.userErr(ctx)
	}
	return f.person(handle), nil
}

func (f *fake) FollowFeed(_ context.Context, first *int, after *string, last *int, before *string) (*graph.BlogConnection, error) {
	f.calls.Add(1)
	if _, err := (social.PageArgs{First: first, After: after, Last: last, Before: before}).Page(social.FeedCursor, 7); err != nil {
		return nil, err
	}
	return &graph.BlogConnection{PageInfo: &graph.PageInfo{}, Nodes: []*social.Blog{{ID: 9}}}, nil
}

func (f *fake) SignUp(context.Context, graph.SignUpInput) (*graph.AuthPayload, error) {
	f.calls.Add(1)
	return &graph.AuthPayload{Token: "t", User: f.person("ada")}, nil
}

func (f *fake) SignIn(context.Context, graph.SignInInput) (*graph.AuthPayload, error) {
	f.calls.Add(1)
	return &graph.AuthPayload{Token: "t", User: f.person("ada")}, nil
}

func (f *fake) SignOut(context.Context, graph.SignOutInput) (*graph.SignOutPayload, error) {
	f.calls.Add(1)
	return &graph.SignOutPayload{SignedOut: true}, nil
}

func (f *fake) ChangePassword(context.Context, graph.ChangePasswordInput) (*graph.AuthPayload, error) {
	f.calls.Add(1)
	return &graph.AuthPayload{Token: "t", User: f.person("ada")}, nil
}

func (f *fake) DeleteAccount(context.Context, graph.DeleteAccountInput) (*graph.DeleteAccountPayload, error) {
	f.calls.Add(1)
	return &graph.DeleteAccountPayload{}, nil
}

func (f *fake) UpdateProfile(context.Context, graph.UpdateProfileInput) (*graph.UserPayload, error) {
	f.calls.Add(1)
	return &graph.UserPayload{UserID: "u"}, nil
}

func (f *fake) Follow(_ context.Context, input graph.UserIDInput) (*graph.FollowPayload, error) {
	f.calls.Add(1)
	f.follows.Add(1)
	return &graph.FollowPayload{UserID: input.UserID}, nil
}

func (f *fake) Unfollow(_ context.Context, input graph.UserIDInput) (*graph.FollowPayload, error) {
	f.calls.Add(1)
	return &graph.FollowPayload{UserID: input.UserID}, nil
}

func (f *fake) PublishBlog(context.Context, graph.PublishBlogInput) (*graph.BlogPayload, error) {
	f.calls.Add(1)
	return &graph.BlogPayload{Blog: &social.Blog{ID: 9}, BlogEdge: &graph.BlogEdge{}}, nil
}

func (f *fake) DeleteBlog(context.Context, graph.BlogIDInput) (*graph.DeleteBlogPayload, error) {
	f.calls.Add(1)
	return &graph.DeleteBlogPayload{}, nil
}

type fakeUser struct {
	graph.UserResolver // of what no test here asks for
	f                  *fake
}

func (fakeUser) FollowerCount(context.Context, *social.User) (int, error)  { return 1, nil }
func (fakeUser) FollowingCount(context.Context, *social.User) (int, error) { return 1, nil }
func (fakeUser) BlogCount(context.Context, *social.User) (int, error)      { return 1, nil }

func (u fakeUser) Followers(_ context.Context, _ *social.User, first *int, after *string) (*graph.UserConnection, error) {
	p, err := (social.PageArgs{First: first, After: after}).Page(social.FollowersCursor, 7)
	if err != nil {
		return nil, err
	}
	u.f.lists.Add(1)
	c := &graph.UserConnection{PageInfo: &graph.PageInfo{}}
	for range p.Limit {
		c.Nodes = append(c.Nodes, u.f.person("fan"))
	}
	return c, nil
}

func (u fakeUser) Following(ctx context.Context, obj *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return u.Followers(ctx, obj, first, after)
}

func (u fakeUser) MutualFollows(ctx context.Context, obj *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return u.Followers(ctx, obj, first, after)
}

func (u fakeUser) FollowersYouKnow(ctx context.Context, obj *social.User, first *int, after *string) (*graph.UserConnection, error) {
	return u.Followers(ctx, obj, first, after)
}

func (u fakeUser) Blogs(_ context.Context, _ *social.User, first *int, after *string) (*graph.BlogConnection, error) {
	p, err := (social.PageArgs{First: first, After: after}).Page(social.FeedCursor, 7)
	if err != nil {
		return nil, err
	}
	u.f.lists.Add(1)
	c := &graph.BlogConnection{PageInfo: &graph.PageInfo{}}
	if u.f.content != "" {
		for range p.Limit {
			c.Nodes = append(c.Nodes, &social.Blog{ID: 9, Content: u.f.content})
		}
	}
	return c, nil
}

func (fakeUser) ViewerIsFollowing(context.Context, *social.User) (bool, error) { return true, nil }

// IsFollowingViewer fails: the errors of a page of people are counted by it.
func (fakeUser) IsFollowingViewer(context.Context, *social.User) (bool, error) {
	return false, errors.New("connection to 10.0.0.7 refused")
}
func (fakeUser) IsMutual(context.Context, *social.User) (bool, error)        { return true, nil }
func (fakeUser) ViewerCanFollow(context.Context, *social.User) (bool, error) { return true, nil }

type fakeBlog struct{ f *fake }

func (b fakeBlog) Author(context.Context, *social.Blog) (*social.User, error) {
	return b.f.person("ada"), nil
}

func (fakeBlog) LikeCount(context.Context, *social.Blog) (int, error) { return 1, nil }

func (fakeBlog) ViewerHasLiked(context.Context, *social.Blog) (bool, error) { return true, nil }

func (b fakeBlog) Likers(ctx context.Context, _ *social.Blog, first *int, after *string) (*graph.UserConnection, error) {
	return fakeUser{f: b.f}.Followers(ctx, nil, first, after)
}

func (f *fake) LikeCountChanged(context.Context, string) (<-chan *social.Blog, error) {
	f.calls.Add(1)
	return nil, social.Errorf(social.NotFound, "there is no such blog")
}

type fakeUsers struct{}

func (fakeUsers) TotalCount(context.Context, *graph.UserConnection) (int, error) { return 1, nil }

func (f *fake) MutualFollows(ctx context.Context, _ string, first *int, after *string) (*graph.UserConnection, error) {
	f.calls.Add(1)
	return fakeUser{f: f}.Followers(ctx, nil, first, after)
}

func (f *fake) SearchUsers(ctx context.Context, _ string, first *int, after *string) (*graph.UserConnection, error) {
	f.calls.Add(1)
	return fakeUser{f: f}.Followers(ctx, nil, first, after)
}

// fakeQuery keeps Query.user and Query.blog apart from the methods of ResolverRoot.
type fakeQuery struct{ *fake }

func (q fakeQuery) User(ctx context.Context, handle string) (*social.User, error) {
	return q.UserByHandle(ctx, handle)
}
func (q fakeQuery) Blog(context.Context, string) (*social.Blog, error) {
	q.calls.Add(1)
	return &social.Blog{ID: 9}, nil
}
