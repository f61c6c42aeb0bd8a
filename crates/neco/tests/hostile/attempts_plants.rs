//! Attempts to plant what runs or instructs later: parts of repositories, and files that programs read by themselves.

use crate::attempts::{Attempt, of_list};
use crate::listeners::Listeners;
use crate::world::World;

const LIST: &str = include_str!("attempts_plants.txt");

/// Every attempt, with the places of this world.
pub fn all(world: &World, listeners: &Listeners) -> Vec<Attempt> {
    of_list(LIST, world, listeners)
}
