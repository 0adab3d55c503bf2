package account

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"kith/social"
)

const (
	secret = "0123456789abcdef0123456789abcdef"
	// beyond is more than a double holds.
	beyond = social.ID(653247040368672769)
)

// noon is when these tests are.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *jwt.NumericDate { return jwt.NewNumericDate(noon.Add(d)) }

func testTokens(t *testing.T) tokens {
	t.Helper()
	tk, err := newTokens(secret, 0, func() time.Time { return noon })
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func sign(t *testing.T, method jwt.SigningMethod, key any, claims jwt.Claims) string {
	t.Helper()
	s, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// SEC-6 of the cases: thirty seconds of skew for every time alike; iat is not checked.
func TestTokenTimesAreTakenWithTheSameSkew(t *testing.T) {
	t.Parallel()
	tk := testTokens(t)
	for name, c := range map[string]struct {
		iat, nbf, exp time.Duration
		ok            bool
	}{
		"plain":        {0, 0, time.Hour, true},
		"iat +3 s":     {3 * time.Second, 0, time.Hour, true},
		"iat +600 s":   {600 * time.Second, 0, time.Hour, true},
		"nbf +3 s":     {0, 3 * time.Second, time.Hour, true},
		"nbf +29 s":    {0, 29 * time.Second, time.Hour, true},
		"nbf +31 s":    {0, 31 * time.Second, time.Hour, false},
		"nbf +600 s":   {0, 600 * time.Second, time.Hour, false},
		"exp -3 s":     {0, 0, -3 * time.Second, true},
		"exp -29 s":    {0, 0, -29 * time.Second, true},
		"exp -31 s":    {0, 0, -31 * time.Second, false},
		"exp -600 s":   {0, 0, -600 * time.Second, false},
		"all together": {600 * time.Second, 3 * time.Second, -3 * time.Second, true},
	} {
		text := sign(t, jwt.SigningMethodHS256, []byte(secret), jwt.RegisteredClaims{
			Subject: beyond.String(), IssuedAt: at(c.iat), NotBefore: at(c.nbf), ExpiresAt: at(c.exp)})
		got, err := tk.read(text)
		if (err == nil) != c.ok || c.ok && got.user != beyond {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestIssuedTokenIsReadAndEnds(t *testing.T) {
	t.Parallel()
	now := noon.Add(700 * time.Millisecond)
	tk, err := newTokens(secret, time.Minute, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	text, until, err := tk.issue(beyond, 3)
	if err != nil || until != social.Millis(noon.Add(time.Minute).UnixMilli()) {
		t.Fatalf("until %d, %v", until, err)
	}
	for after, ok := range map[time.Duration]bool{0: true, time.Minute: true, 89 * time.Second: true, 91 * time.Second: false, -time.Hour: true} {
		now = noon.Add(after)
		got, err := tk.read(text)
		if (err == nil) != ok || got.user != beyond || got.version != 3 || got.expires != until || !ok && !errors.Is(err, social.ErrTokenEnded) || tk.haveExpired(got) == ok {
			t.Errorf("after %s: %+v, %v", after, got, err)
		}
	}
}

// Whatever ends one token ends no other: each has a name of its own, also those from before
// there were names, in whatever way their signature is written.
func TestEachTokenHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	tk := testTokens(t)
	name := func(text string) string {
		t.Helper()
		got, err := tk.read(text)
		if err != nil {
			t.Fatal(err)
		}
		if got.id == "" || len(got.id) > 64 {
			t.Errorf("the name %q", got.id)
		}
		return got.id
	}
	seen := map[string]bool{}
	for range 100 {
		text, _, err := tk.issue(7, 0)
		if err != nil {
			t.Fatal(err)
		}
		seen[name(text)] = true
	}
	for i := range 100 {
		old := sign(t, jwt.SigningMethodHS256, []byte(secret), jwt.RegisteredClaims{Subject: "7", ExpiresAt: at(time.Duration(i+1) * time.Minute)})
		seen[name(old)] = true
		// The last character has two bits that say nothing.
		other := old[:len(old)-1] + string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", old[len(old)-1])^1])
		if _, err := tk.read(other); err == nil && name(other) != name(old) {
			t.Error("one token has two names")
		}
	}
	if len(seen) != 200 {
		t.Errorf("%d names of 200 tokens", len(seen))
	}
}

func TestTokensThatAreNotOursAreRefused(t *testing.T) {
	t.Parallel()
	tk := testTokens(t)
	good := jwt.RegisteredClaims{Subject: "7", ExpiresAt: at(time.Hour)}
	ours := sign(t, jwt.SigningMethodHS256, []byte(secret), good)
	if got, err := tk.read(ours); err != nil || got.user != 7 || got.version != 0 {
		t.Fatalf("ours: %+v, %v", got, err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(ours, ".")
	subject := func(sub string) string {
		return sign(t, jwt.SigningMethodHS256, []byte(secret), jwt.RegisteredClaims{Subject: sub, ExpiresAt: at(time.Hour)})
	}
	for name, token := range map[string]string{
		"nothing":           "",
		"garbage":           "garbage",
		"dots":              "..",
		"alg none":          sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good),
		"RS256":             sign(t, jwt.SigningMethodRS256, key, good),
		"HS384":             sign(t, jwt.SigningMethodHS384, []byte(secret), good),
		"HS512":             sign(t, jwt.SigningMethodHS512, []byte(secret), good),
		"another secret":    sign(t, jwt.SigningMethodHS256, []byte(secret+"x"), good),
		"no signature":      parts[0] + "." + parts[1] + ".",
		"cut signature":     ours[:len(ours)-2],
		"another's body":    parts[0] + "." + strings.Split(subject("8"), ".")[1] + "." + parts[2],
		"two parts":         parts[0] + "." + parts[1],
		"with Bearer":       "Bearer " + ours,
		"without an end":    sign(t, jwt.SigningMethodHS256, []byte(secret), jwt.RegisteredClaims{Subject: "7"}),
		"without a subject": subject(""),
		"subject alice":     subject("alice"),
		"subject 0":         subject("0"),
		"subject -7":        subject("-7"),
		"subject 7.0":       subject("7.0"),
		"subject ' 7'":      subject(" 7"),
		"subject too long":  subject("9223372036854775808"),
		"subject a number": sign(t, jwt.SigningMethodHS256, []byte(secret),
			jwt.MapClaims{"sub": 7, "exp": noon.Add(time.Hour).Unix()}),
		"expired, another secret": sign(t, jwt.SigningMethodHS256, []byte(secret+"x"),
			jwt.RegisteredClaims{Subject: "7", ExpiresAt: at(-time.Hour)}),
		"expired, of nobody": sign(t, jwt.SigningMethodHS256, []byte(secret),
			jwt.RegisteredClaims{Subject: "nobody", ExpiresAt: at(-time.Hour)}),
		"version as text": sign(t, jwt.SigningMethodHS256, []byte(secret),
			jwt.MapClaims{"sub": "7", "exp": noon.Add(time.Hour).Unix(), "ver": "1"}),
		"end as text": sign(t, jwt.SigningMethodHS256, []byte(secret), jwt.MapClaims{"sub": "7", "exp": "tomorrow"}),
	} {
		if got, err := tk.read(token); !social.HasCode(err, social.Unauthenticated) || errors.Is(err, social.ErrTokenEnded) || got.user != 0 {
			t.Errorf("%s: names %+v, %v", name, got, err)
		}
	}
}

func TestShortSecretIsRefused(t *testing.T) {
	t.Parallel()
	for n, ok := range map[int]bool{0: false, 31: false, 32: true, 100: true} {
		_, err := New(nil, nil, time.Now, Config{Secret: strings.Repeat("s", n), CheapHashes: true})
		if (err == nil) != ok {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A token is read again and again; whatever is in it, nothing panics, and nobody
// is read but whom we signed.
func FuzzReadToken(f *testing.F) {
	tk, err := newTokens(secret, 0, func() time.Time { return noon })
	if err != nil {
		f.Fatal(err)
	}
	ours, _, err := tk.issue(7, 0)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{ours, ours[:len(ours)-1], ours + "A", "..", "e30.e30.", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, err := tk.read(s); err == nil && got.user != 7 {
			t.Errorf("%q names %+v", s, got)
		}
	})
}
