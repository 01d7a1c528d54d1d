// SPDX-License-Identifier: BSD-2-Clause
// unwind_rust: threads that sort, format, count and recurse, and panics that are caught. Until it is
// killed.
use std::collections::BTreeMap;
use std::panic;
use std::thread;

#[inline(never)]
fn deep(depth: u32, seed: u64) -> u64 {
    let text = format!("{seed:x}-{depth}");
    if depth == 0 {
        let mut v: Vec<u64> = (0..300).map(|i| (i * seed) % 977).collect();
        v.sort_by(|a, b| (b % 31).cmp(&(a % 31)));
        return v[7] + text.len() as u64;
    }
    deep(depth - 1, seed.wrapping_mul(31) + text.len() as u64) + 1
}

#[inline(never)]
fn count(map: &mut BTreeMap<String, u64>, seed: u64) -> usize {
    for i in 0..100 {
        *map.entry(format!("key {}", (seed * i) % 613)).or_insert(0) += 1;
    }
    map.len()
}

fn work() {
    let mut map = BTreeMap::new();
    let mut sum = 0;
    for i in 1u64.. {
        sum += deep((i % 40) as u32, i) + count(&mut map, i) as u64;
        if i % 64 == 0 {
            let caught = panic::catch_unwind(|| {
                if deep(5, i) > 0 {
                    panic!("of number {i}")
                }
            });
            sum += caught.is_err() as u64;
        }
        if sum == 1 {
            println!("{sum}");
        }
    }
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let other = thread::spawn(work);
    work();
    other.join().unwrap();
}
