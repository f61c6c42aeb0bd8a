//! Numbers and texts as bytes: how the index and what is known of files are written.

use std::hash::{BuildHasher, Hasher};

/// Something in a file of ours is not as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged")]
pub(crate) struct Damaged;

/// Adds a number: seven bits a byte, the lowest first.
pub(crate) fn put_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Adds bytes with their length.
pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[derive(Clone, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn number(&mut self) -> Result<u64, Damaged> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.0.split_first().ok_or(Damaged)?;
            self.0 = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    /// The next number, which is a small one.
    pub(crate) fn small(&mut self) -> Result<u32, Damaged> {
        u32::try_from(self.number()?).map_err(|_| Damaged)
    }

    /// The next bytes, as many as asked for.
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next bytes that stand with their length.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Damaged> {
        let length = usize::try_from(self.number()?).map_err(|_| Damaged)?;
        self.take(length)
    }

    /// The next text that stands with its length.
    pub(crate) fn text(&mut self) -> Result<&'a str, Damaged> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Damaged)
    }

    /// The next eight bytes as a number.
    pub(crate) fn fixed(&mut self) -> Result<u64, Damaged> {
        let bytes: [u8; 8] = self.take(8)?.try_into().map_err(|_| Damaged)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// A number that tells one content from another, the same on every machine. Nobody is kept out by
/// it: whoever makes two contents with one number only hides a change from the index of their own files.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64 ^ bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = <[u8; 8]>::try_from(word).map_or(0, u64::from_le_bytes);
        hash = mix(hash ^ word);
    }
    let rest = words.remainder().iter().rev().fold(0_u64, |rest, byte| rest << 8 | u64::from(*byte));
    mix(hash ^ rest)
}

/// Finds keys by their fingerprints: quicker than the usual way, which guards against keys that were
/// chosen to collide. Here they come from the user's own files, a few million at most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quick(u64);

impl BuildHasher for Quick {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = mix(self.0 ^ fingerprint(bytes));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 ^= number as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn mix(value: u64) -> u64 {
    let wide = u128::from(value ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(0x9e37_79b9_7f4a_7c15_u64);
    (wide as u64) ^ ((wide >> 64) as u64) ^ value.rotate_left(23)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers in prop::collection::vec(any::<u64>(), 0..20), text in ".*") {
            let mut out = Vec::new();
            for number in &numbers {
                put_number(&mut out, *number);
            }
            put_bytes(&mut out, text.as_bytes());
            let mut reader = Reader(&out);
            for number in &numbers {
                prop_assert_eq!(reader.number().unwrap(), *number);
            }
            prop_assert_eq!(reader.text().unwrap(), text);
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn one_byte_changed_is_another_fingerprint(
            mut bytes in prop::collection::vec(any::<u8>(), 1..200), at in any::<prop::sample::Index>(), by in 1_u8..,
        ) {
            let before = fingerprint(&bytes);
            let at = at.index(bytes.len());
            bytes[at] ^= by;
            prop_assert_ne!(fingerprint(&bytes), before);
        }
    }

    #[test]
    fn nonsense_is_damage_and_no_more() {
        assert!(Reader(&[0xff; 12]).number().is_err());
        assert!(Reader(&[0x80]).number().is_err());
        assert!(Reader(&[5, 1, 2]).bytes().is_err());
        assert!(Reader(&[1, 0xff]).text().is_err());
        assert!(Reader(&[0; 7]).fixed().is_err());
    }
}
