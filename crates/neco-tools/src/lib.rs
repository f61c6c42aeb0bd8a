//! The hands: every built-in tool that touches the outside world, one file each.
