// SPDX-License-Identifier: BSD-2-Clause
// Names as Rust makes them: modules, impl blocks, traits, generics, closures, methods of enums.

use std::collections::BTreeMap;
use std::fmt::Display;

mod parts {
    pub trait Weight {
        fn weight(&self) -> u64;
    }

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Kind {
        Bolt,
        Nut,
        Washer,
    }

    impl Kind {
        #[inline(never)]
        pub fn from_number(n: u64) -> Kind {
            match n % 3 {
                0 => Kind::Bolt,
                1 => Kind::Nut,
                _ => Kind::Washer,
            }
        }
    }

    impl Weight for Kind {
        #[inline(never)]
        fn weight(&self) -> u64 {
            match self {
                Kind::Bolt => 17,
                Kind::Nut => 5,
                Kind::Washer => 1,
            }
        }
    }

    pub struct Crate<T> {
        pub content: Vec<T>,
    }

    impl<T: Weight> Crate<T> {
        #[inline(never)]
        pub fn total(&self) -> u64 {
            self.content.iter().map(|part| part.weight()).sum()
        }
    }
}

use parts::{Crate, Kind, Weight};

#[inline(never)]
fn count<T: Weight + Ord + Copy>(of: &Crate<T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for part in &of.content {
        *counts.entry(*part).or_insert(0) += 1;
    }
    counts
}

#[inline(never)]
fn describe<D: Display>(what: D) -> String {
    format!("{:>12}", what)
}

fn main() {
    let twist = |n: u64| n.wrapping_mul(0x9e3779b97f4a7c15).rotate_left(17);
    let mut sum = 0u64;
    for round in 0..200 {
        let content = (0..round).map(|n| Kind::from_number(twist(n))).collect();
        let load = Crate { content };
        sum += load.total() + count(&load).values().max().unwrap_or(&0);
    }
    println!("{}", describe(sum));
}
