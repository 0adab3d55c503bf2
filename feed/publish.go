package feed

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"kith/db"
	"kith/rdb"
	"kith/social"
)

const (
	maxImages = 9
	// keyLife is how long an idempotency key stands for its blog.
	keyLife = 24 * time.Hour
	// maxIDAge is how old a blog's id may be when it is committed. Older, it would appear
	// far below the head of feeds that have been read in the meantime.
	maxIDAge = 5 * time.Second
)

// Draft is a blog to be published.
type Draft struct {
	Title     string   // 1 to 120 characters
	Content   string   // 1 to 10,000 characters
	ImageURLs []string // at most 9 http(s) addresses
	// Key makes publishing idempotent for a day: 1 to 100 characters, nil for none.
	Key *string
}

func (d Draft) check() error {
	if err := (social.TextRule{Min: 1, Max: 120}).Check("title", d.Title); err != nil {
		return err
	}
	if err := (social.TextRule{Min: 1, Max: 10000, Lines: true}).Check("content", d.Content); err != nil {
		return err
	}
	if len(d.ImageURLs) > maxImages {
		return social.Invalid("imageUrls", "a blog has at most %d images", maxImages)
	}
	for _, u := range d.ImageURLs {
		if err := social.CheckURL("imageUrls", u); err != nil {
			return err
		}
	}
	if d.Key == nil {
		return nil
	}
	return social.TextRule{Min: 1, Max: 100}.Check("idempotencyKey", *d.Key)
}

// hash tells drafts apart that carry the same key.
func (d Draft) hash() []byte {
	b, _ := json.Marshal([]any{d.Title, d.Content, slices.Concat([]string{}, d.ImageURLs)}) // strings always marshal
	sum := sha256.Sum256(b)
	return sum[:]
}

var (
	errOldID     = errors.New("the blog's id grew old before the commit")
	errPublished = errors.New("a blog was published with this key before")
)

// Publish publishes a blog. With a key that the author used within a day it answers the
// first blog again; with other content that is a CONFLICT. One too soon is RATE_LIMITED.
// When it returns nil the blog is committed.
func (f *Feed) Publish(ctx context.Context, author social.ID, d Draft) (*social.Blog, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if f.limit != nil {
		if err := f.limit(ctx, author); err != nil {
			return nil, err
		}
	}
	for {
		b, err := f.publish(ctx, author, d)
		if err == nil {
			err = f.wrote(ctx, author)
		}
		if !errors.Is(err, errOldID) {
			return b, err
		}
		if ctx.Err() != nil {
			return nil, social.Errorf(social.Unavailable, "the store is too slow now; try again")
		}
	}
}

// wrote makes what an author has published or deleted show in all that the author reads.
func (f *Feed) wrote(ctx context.Context, author social.ID) error {
	return f.caches.Settle(ctx, rdb.DropCounts(author), rdb.MarkWrote(author))
}

func (f *Feed) publish(ctx context.Context, author social.ID, d Draft) (*social.Blog, error) {
	id, err := f.ids.Next(ctx)
	if err != nil {
		return nil, err
	}
	b := &social.Blog{ID: id, AuthorID: author, Title: d.Title, Content: d.Content, ImageURLs: d.ImageURLs}
	var earlier *db.PublishKey
	err = f.db.Transact(ctx, func(tx *db.Tx) error {
		earlier, err = f.write(ctx, tx, b, d)
		return err
	})
	if errors.Is(err, errPublished) {
		return f.published(ctx, earlier, d)
	}
	return b, err
}

// write is the transaction of publishing. The author's row of counts, locked before the
// key is read, makes two uses of one key wait for each other.
func (f *Feed) write(ctx context.Context, tx *db.Tx, b *social.Blog, d Draft) (*db.PublishKey, error) {
	if found, err := tx.ExistingUsers(ctx, []social.ID{b.AuthorID}); err != nil || len(found) == 0 {
		if err == nil {
			err = social.Errorf(social.Unauthenticated, "this account does not exist any more")
		}
		return nil, err
	}
	if err := tx.InsertBlog(ctx, b); err != nil {
		return nil, err
	}
	if err := tx.AddCounts(ctx, []db.CountChange{{UserID: b.AuthorID, Blogs: 1}}); err != nil {
		return nil, err
	}
	if d.Key != nil {
		if earlier, err := f.takeKey(ctx, tx, b, d); err != nil {
			return earlier, err
		}
	}
	body := social.BlogBody{BlogID: b.ID, AuthorID: b.AuthorID}
	if err := tx.Publish(ctx, social.Event{Kind: social.BlogEvent, Body: body}); err != nil {
		return nil, err
	}
	// Last, since the lane may have been waited for.
	if f.clock.NowMS()-b.ID.Time() > social.Millis(maxIDAge.Milliseconds()) {
		return nil, errOldID
	}
	return nil, nil
}

// takeKey makes the key stand for the blog, or is errPublished with what it stands for.
func (f *Feed) takeKey(ctx context.Context, tx *db.Tx, b *social.Blog, d Draft) (*db.PublishKey, error) {
	now := b.ID.Time()
	earlier, err := tx.PublishKeyOf(ctx, b.AuthorID, *d.Key)
	switch {
	case err == nil && now-earlier.CreatedAt < social.Millis(keyLife.Milliseconds()):
		return earlier, errPublished
	case err != nil && !social.HasCode(err, social.NotFound):
		return nil, err
	}
	return nil, tx.PutPublishKey(ctx, &db.PublishKey{
		UserID: b.AuthorID, Key: *d.Key, BlogID: b.ID, BodyHash: d.hash(), CreatedAt: now,
	})
}

// published answers a repeated key.
func (f *Feed) published(ctx context.Context, k *db.PublishKey, d Draft) (*social.Blog, error) {
	if !slices.Equal(k.BodyHash, d.hash()) {
		return nil, &social.Error{Code: social.Conflict, Field: "idempotencyKey", Message: "this key was used for another blog"}
	}
	blogs, err := f.db.BlogsByID(ctx, []social.ID{k.BlogID})
	if err != nil {
		return nil, fmt.Errorf("read the blog of a key: %w", err)
	}
	if len(blogs) == 0 {
		return nil, &social.Error{Code: social.Conflict, Field: "idempotencyKey", Message: "the blog of this key was deleted"}
	}
	return blogs[0], nil
}
