"""Show cassettes to people, and to programs that read JSON."""
