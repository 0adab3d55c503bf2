// Package account makes people known: sign-up, sign-in and sign-out, the tokens that name
// who asks, profiles, and the statuses that hide people from others.
package account
