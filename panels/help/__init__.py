"""Help in place: the guide's page about what a person looks at, offline."""
