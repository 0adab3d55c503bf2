// Package account makes people known: sign-up, sign-in, the tokens that name who asks,
// and profiles.
package account
