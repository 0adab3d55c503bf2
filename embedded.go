package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"kith/db"
)

// The files of the data folder.
func databaseFile(folder string) string { return filepath.Join(folder, "kith.db") }
func secretFile(folder string) string   { return filepath.Join(folder, "jwt-secret") }
func lockFile(folder string) string     { return filepath.Join(folder, "lock") }

// store is the open store, with the lock of its folder when it is embedded.
type store struct {
	db   *db.DB
	lock *flock.Flock
}

func (s *store) close() {
	_ = s.db.Close()
	if s.lock != nil {
		_ = s.lock.Unlock()
	}
}

// openStore opens the store that the flags name. An embedded one is held by this process
// alone: SQLite has one writer, and what is kept in process must not have a rival.
func openStore(ctx context.Context, f storeFlags) (*store, error) {
	s := &store{}
	if f.MySQL == "" {
		lock, err := lockFolder(f.Data)
		if err != nil {
			return nil, err
		}
		s.lock = lock
	}
	d, err := db.Open(ctx, f.config())
	if err != nil {
		if s.lock != nil {
			_ = s.lock.Unlock()
		}
		return nil, err
	}
	s.db = d
	return s, nil
}

func lockFolder(folder string) (*flock.Flock, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	lock := flock.New(lockFile(folder))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if !got {
		return nil, fmt.Errorf("another kith is using the data folder %s", folder)
	}
	return lock, nil
}

// ownSecret reads the secret of the data folder, which the first call makes.
func ownSecret(folder string) (string, error) {
	b, err := os.ReadFile(secretFile(folder))
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeSecret(folder); err == nil {
			b, err = os.ReadFile(secretFile(folder))
		}
	}
	if err != nil {
		return "", fmt.Errorf("the secret of the data folder: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// makeSecret writes a new secret beside its place and links it there, whole or not at
// all; when two do so at once, the first one's stays.
func makeSecret(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "jwt-secret-*") // readable by its owner alone
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	_, err = f.WriteString(hex.EncodeToString(random) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), secretFile(folder)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
