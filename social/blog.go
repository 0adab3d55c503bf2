package social

// Blog is one published piece. ID orders blogs by time; CreatedAt is its millisecond.
type Blog struct {
	ID        ID
	AuthorID  ID
	Title     string
	Content   string
	ImageURLs []string
}

// IsNode marks Blog as a GraphQL Node.
func (*Blog) IsNode() {}

// GlobalID is the opaque id of GraphQL.
func (b *Blog) GlobalID() string { return GlobalID(BlogNode, b.ID) }

// CreatedAt is when the blog was published.
func (b *Blog) CreatedAt() Millis { return b.ID.Time() }

// BlogRef names a blog and its author.
type BlogRef struct {
	ID       ID
	AuthorID ID
}
