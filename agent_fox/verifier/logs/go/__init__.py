"""Logs of `go build`, `go vet`, `go test` and gotestsum."""
