//! A shop.
use std::collections::HashMap;

use crate::money::{Price, round_up};

pub const MAX_ITEMS: usize = 10;

static OPEN: bool = true;

/// What is sold.
pub struct Shop<T> {
    orders: HashMap<u64, Order>,
    extra: T,
}

pub enum Order {
    Open(Vec<Price>),
    Closed { total_price: Price },
}

pub trait Priced {
    type Unit;
    fn total_price(&self) -> Price;
}

impl<T> Shop<T> {
    pub fn add_item(&mut self, order: u64, price: Price) -> bool {
        let items = self.orders.entry(order).or_insert_with(|| Order::Open(Vec::new()));
        check!(items, MAX_ITEMS);
        log(round_up(price));
        true
    }
}

impl<T> Priced for Shop<T> {
    type Unit = Price;
    fn total_price(&self) -> Price {
        fn inner() -> Price {
            Price::default()
        }
        self.orders.values().map(Order::total_price).sum::<Price>() + inner()
    }
}

macro_rules! check {
    ($items:expr, $most:expr) => {};
}

type Orders = HashMap<u64, Order>;

mod tests {
    use super::*;

    #[test]
    fn items_are_added() {
        let mut shop = Shop::<()>::new();
        assert!(shop.add_item(1, Price::of(MAX_ITEMS)));
    }
}
