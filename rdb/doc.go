// Package rdb is Redis: keys.go names every key, each script of lua/ is one verb. All
// that Redis holds may be lost at any moment. Errors of the driver end here: callers see
// [kith/social.Error] or the end of their context.
package rdb
