//! Knows the user's folder: git facts and what git ignores.
