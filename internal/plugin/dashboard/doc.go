// Package dashboard serves a read-only page about AppServices, and about other kinds made from charts, on the loopback
// address.
//
// It reads the cluster with the rights of the user, by one watch for each kind, and installs nothing. Only the browser
// that opened the printed address is answered: guard.go. Texts of objects are shown as package plan shows them in
// events, all others by their size.
package dashboard
