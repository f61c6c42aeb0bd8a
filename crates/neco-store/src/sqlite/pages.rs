//! The pages of a damaged database as they lie in its file and in its write-ahead log.
//!
//! Nothing that leads to a page is believed: what the head, the roots and the pages between them say may be gone or wrong,
//! while a page that holds rows still says what it holds. All pages of ours have the same length.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::sizes::files_of;

/// What every database begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Bytes of a page.
pub(super) const SIZE: usize = 4096;
/// Where the head says which page begins the list of free ones, and how many there are.
const FIRST_FREE: usize = 32;
const FREE: usize = 36;
/// What every write-ahead log begins with, but for the last bit.
const LOG_MAGIC: u32 = 0x377f_0682;
/// Bytes before the first frame of a write-ahead log, and before the page of each.
const LOG_HEAD: u64 = 32;
const FRAME_HEAD: u64 = 24;

/// The pages of a database.
pub(super) struct Pages {
    file: File,
    log: Option<File>,
    /// Where in the log the newest state of a page lies.
    newer: HashMap<u32, u64>,
    /// How many pages there are.
    pub(super) count: u32,
    free: HashSet<u32>,
}

impl Pages {
    /// The pages of the database at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let [database, log, _] = files_of(path);
        let file = File::open(database)?;
        let count = u32::try_from(file.metadata()?.len().div_ceil(SIZE as u64)).unwrap_or(u32::MAX);
        let mut pages = Self { file, log: File::open(log).ok(), newer: HashMap::new(), count, free: HashSet::new() };
        pages.look_into_log();
        pages.find_free();
        Ok(pages)
    }

    /// Whether a page is in use, as far as that is known: what is free holds what was removed.
    pub(super) fn is_used(&self, page: u32) -> bool {
        !self.free.contains(&page)
    }

    /// A page; zeros where it can't be read.
    pub(super) fn page(&self, number: u32) -> Vec<u8> {
        let mut page = vec![0; SIZE];
        let (file, at) = match (self.newer.get(&number), &self.log) {
            (Some(at), Some(log)) => (log, *at),
            _ => (&self.file, u64::from(number.saturating_sub(1)) * SIZE as u64),
        };
        let mut filled = 0;
        while let Some(rest) = page.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, at + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        page
    }

    /// Finds what was committed in the write-ahead log: up to the first frame whose checksum is wrong, as SQLite does.
    /// What lies behind it was rolled back, or is older.
    fn look_into_log(&mut self) {
        let Some(log) = &self.log else { return };
        let mut head = [0; LOG_HEAD as usize];
        let is_log = log.read_exact_at(&mut head, 0).is_ok() && number_at(&head, 0) & !1 == LOG_MAGIC;
        let mut sum = Sum { is_big: number_at(&head, 0) & 1 == 1, first: 0, second: 0 };
        sum.add(&head[..24]);
        if !is_log || number_at(&head, 8) as usize != SIZE || !sum.is(&head, 24) {
            return;
        }
        let mut waiting = HashMap::new();
        let mut at = LOG_HEAD;
        let (mut frame, mut page) = ([0; FRAME_HEAD as usize], vec![0; SIZE]);
        while log.read_exact_at(&mut frame, at).is_ok() && log.read_exact_at(&mut page, at + FRAME_HEAD).is_ok() {
            sum.add(&frame[..8]);
            sum.add(&page);
            if frame[8..16] != head[16..24] || !sum.is(&frame, 16) {
                break;
            }
            waiting.insert(number_at(&frame, 0), at + FRAME_HEAD);
            let pages = number_at(&frame, 4);
            if pages > 0 {
                self.newer.extend(waiting.drain());
                self.count = pages;
            }
            at += FRAME_HEAD + SIZE as u64;
        }
    }

    /// Follows the list of free pages. One that is older than the rest, or damaged, would hide pages that are in use: it is
    /// believed only when all of it fits together.
    fn find_free(&mut self) {
        let head = self.page(1);
        if !head.starts_with(MAGIC) {
            return;
        }
        let mut free = HashSet::new();
        let mut fits = true;
        let mut trunk = number_at(&head, FIRST_FREE);
        while trunk != 0 && fits {
            fits = (2..=self.count).contains(&trunk) && free.insert(trunk);
            let page = self.page(trunk);
            let listed = number_at(&page, 4) as usize;
            fits &= listed <= SIZE / 4 - 2;
            let listed = (0..listed.min(SIZE / 4 - 2)).map(|index| number_at(&page, 8 + index * 4));
            for number in listed {
                fits &= (2..=self.count).contains(&number) && free.insert(number);
            }
            trunk = number_at(&page, 0);
        }
        if fits && free.len() == number_at(&head, FREE) as usize {
            self.free = free;
        }
    }
}

/// The running checksum of a write-ahead log.
struct Sum {
    /// Whether its words begin with the big end.
    is_big: bool,
    first: u32,
    second: u32,
}

impl Sum {
    /// Goes on with `bytes`, which are a multiple of eight.
    fn add(&mut self, bytes: &[u8]) {
        let word = |four: &[u8]| {
            let four = four.try_into().unwrap_or_default();
            if self.is_big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
        };
        let (mut first, mut second) = (self.first, self.second);
        for pair in bytes.chunks_exact(8) {
            let (left, right) = pair.split_at(4);
            first = first.wrapping_add(word(left)).wrapping_add(second);
            second = second.wrapping_add(word(right)).wrapping_add(first);
        }
        (self.first, self.second) = (first, second);
    }

    /// Whether it is the one that is written at `at`.
    fn is(&self, bytes: &[u8], at: usize) -> bool {
        (number_at(bytes, at), number_at(bytes, at + 4)) == (self.first, self.second)
    }
}

/// The number of four bytes at `at`; 0 where there are none.
pub(super) fn number_at(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_be_bytes)
}
