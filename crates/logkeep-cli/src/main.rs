//! The `logkeep` command.

fn main() {}
