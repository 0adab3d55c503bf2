// Package social holds the nouns of Kith: ids, people, blogs, relations, events,
// cursors, errors and the clock. It knows no store and no transport, and imports the
// standard library alone, so that every other package can speak in its terms.
package social
