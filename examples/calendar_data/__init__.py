"""Calendar data (RFC 5545) for servers: where it is, how it is read, and what repeats."""
