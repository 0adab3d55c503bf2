package social

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// sealLen is how many bytes a seal adds: of the sum over what is sealed, which says that
// nobody else wrote it and, since no two have the same, begins the cipher.
const sealLen = 12

// Seal closes cursors of lists of people. A page may end at somebody who is hidden from who
// reads it: the cursor of that place must tell neither who it is nor since when. All servers
// have the same one, and one cursor has one text.
type Seal struct {
	block cipher.Block
	sum   []byte // the key of the sum
}

// NewSeal makes the seal that belongs to a secret.
func NewSeal(secret string) (*Seal, error) {
	keys, err := hkdf.Key(sha256.New, []byte(secret), nil, "kith cursors of people", 64)
	if err != nil {
		return nil, fmt.Errorf("derive the keys of cursors: %w", err)
	}
	block, err := aes.NewCipher(keys[:32])
	if err != nil {
		return nil, fmt.Errorf("make the cipher of cursors: %w", err)
	}
	return &Seal{block: block, sum: keys[32:]}, nil
}

// Close seals the text of a cursor.
func (s *Seal) Close(cursor string) string {
	b := []byte(cursor)
	sum := s.sumOf(b)
	s.cross(sum, b)
	return base64.RawURLEncoding.EncodeToString(append(sum, b...))
}

// Open gives the text of the cursor of a client, nil where there is none; of what was not
// sealed here an empty one, which belongs to no list.
func (s *Seal) Open(sealed *string) *string {
	if sealed == nil {
		return nil
	}
	cursor := ""
	if len(*sealed) > base64.RawURLEncoding.EncodedLen(sealLen+base64.RawURLEncoding.EncodedLen(maxCursorLen)) {
		return &cursor
	}
	b, err := base64.RawURLEncoding.DecodeString(*sealed)
	if err != nil || len(b) < sealLen {
		return &cursor
	}
	sum, b := b[:sealLen], b[sealLen:]
	s.cross(sum, b)
	if text := string(b); hmac.Equal(sum, s.sumOf(b)) && s.Close(text) == *sealed { // also letter for letter
		cursor = text
	}
	return &cursor
}

func (s *Seal) sumOf(b []byte) []byte {
	h := hmac.New(sha256.New, s.sum)
	h.Write(b)
	return h.Sum(nil)[:sealLen:sealLen]
}

// cross encrypts b, or decrypts it.
func (s *Seal) cross(sum, b []byte) {
	var begin [aes.BlockSize]byte
	copy(begin[:], sum)
	cipher.NewCTR(s.block, begin[:]).XORKeyStream(b, b)
}
