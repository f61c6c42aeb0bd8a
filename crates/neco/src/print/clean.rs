//! Takes out what would steer a terminal: the same everywhere, so it is kept with the words.

pub use neco_proto::clean::{Cleaner, clean, clean_line};
