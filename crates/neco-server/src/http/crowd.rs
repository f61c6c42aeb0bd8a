//! How many connections one address may have: nobody takes the places of all others.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections of an address beyond this machine.
const MOST: usize = 256;

/// Connections by address.
#[derive(Default)]
pub(crate) struct Crowd(Mutex<HashMap<IpAddr, usize>>);

/// One connection of an address, until it is dropped.
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    address: IpAddr,
}

/// An address has as many connections as one may have.
#[derive(Debug)]
pub(crate) struct TooMany;

impl Crowd {
    /// A place for a connection of an address; those of this machine need none.
    pub fn enter(self: &Arc<Self>, peer: IpAddr) -> Result<Option<Place>, TooMany> {
        let address = network(peer);
        if address.is_loopback() {
            return Ok(None);
        }
        let mut all = self.all();
        let count = all.entry(address).or_default();
        if *count >= MOST {
            return Err(TooMany);
        }
        *count += 1;
        Ok(Some(Place { crowd: Arc::clone(self), address }))
    }

    fn all(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.crowd.all();
        if let Some(count) = all.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.address);
            }
        }
    }
}

/// Whoever has one address of version 6 has a whole network of them.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) if !six.is_loopback() => {
            let [a, b, c, d, ..] = six.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_takes_no_more_than_its_share_and_gives_it_back() {
        let crowd = Arc::<Crowd>::default();
        let enter = |address: &str| crowd.enter(address.parse().unwrap());
        let mut places: Vec<_> = (0..MOST).map(|_| enter("192.0.2.1").unwrap()).collect();
        assert!(enter("192.0.2.1").is_err() && enter("::ffff:192.0.2.1").is_err());
        assert!(enter("192.0.2.2").is_ok(), "others have places of their own");
        places.pop();
        assert!(enter("192.0.2.1").is_ok());
        let _network: Vec<_> = (0..MOST).map(|at| enter(&format!("2001:db8::{at:x}")).unwrap()).collect();
        assert!(enter("2001:db8::ffff:1").is_err() && enter("2001:db8:0:1::1").is_ok());
        let here: Vec<_> = (0..=MOST).map(|_| enter("127.0.0.1").unwrap()).collect();
        assert!(here.iter().all(Option::is_none));
        drop((places, here));
        assert_eq!(crowd.all().len(), 1, "only the network is left");
    }
}
