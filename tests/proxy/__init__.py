"""End-to-end tests of `acptap proxy` on stdio: real processes, real pipes."""
