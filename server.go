// Command kith.
package main

//go:generate go tool gqlgen generate

func main() {}
