//! Fixed problems that the benches share, so that every bench times the same work.
