package feed

// Size is how many viewers and authors the index has.
func (l *Live) Size() (viewers, authors int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.viewers), len(l.authors)
}
