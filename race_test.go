//go:build race

package main

// raceDetector tells that this is a build with it.
const raceDetector = true
