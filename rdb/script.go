package rdb

import (
	"context"
	"embed"

	"github.com/redis/go-redis/v9"
)

//go:embed lua
var sources embed.FS

var (
	buildScript     = script("build")
	fillScript      = script("fill")
	fillLikesScript = script("filllikes")
	homeScript      = script("home")
	likeScript      = script("like")
	likedScript     = script("liked")
	limitScript     = script("limit")
	moveScript      = script("move")
	pushScript      = script("push")
	removeScript    = script("remove")
	renewScript     = script("renew")
	takeScript      = script("take")
	wroteScript     = script("wrote")
)

// Load makes all servers know the scripts, so that the first to run them need not send
// them; what fails is left to those.
func (r *Redis) Load(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.patience)
	defer cancel()
	for _, s := range []*redis.Script{
		buildScript, fillScript, fillLikesScript, homeScript, likeScript, likedScript, limitScript, moveScript,
		pushScript, removeScript, renewScript, takeScript, wroteScript,
	} {
		_ = s.Load(ctx, r.client).Err()
	}
}

func script(name string) *redis.Script {
	text, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return redis.NewScript(string(text))
}

// run runs a script by its hash, and by its text where the server does not know it: after
// a start, a failover, SCRIPT FLUSH. Refused as unknown, it has done nothing, so that
// running it anew does nothing twice.
func (r *Redis) run(ctx context.Context, s *redis.Script, keys []string, args ...any) *redis.Cmd {
	return s.Run(ctx, r.client, keys, args...)
}
