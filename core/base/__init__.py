"""Ground that every room stands on: failures, clean text, secrets, paths, safe writing, locks and queues."""
