//! Decides whether a call may happen, and builds the box it happens in.
