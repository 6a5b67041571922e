//! What our copy of the list of models weighs, and how long it takes to read.

use super::world::{World, read_copy};
use crate::figures::{millis, quantile, show};
use std::{hint::black_box, path::Path, time::Instant};

const RUNS: usize = 50;

pub fn measure(world: &World) {
    println!("our copy of the list of models, with the public catalogue known of ({RUNS} runs, p50)");
    for (which, what) in [("connected", "what is connected"), ("all", "all that is known of")] {
        let file = world.copy_file(which);
        let size = std::fs::metadata(&file).expect("a copy").len();
        #[expect(clippy::cast_precision_loss, reason = "a file of some megabytes")]
        show(&format!("{what}: size"), size as f64 / 1024.0, "KiB");
        show(&format!("{what}: time to read and decode"), time_to_read(&file), "ms");
    }
}

fn time_to_read(file: &Path) -> f64 {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        let (_, catalogue) = read_copy(file);
        // Models are decoded when they are first read.
        black_box(catalogue.models().count());
        times.push(began.elapsed());
    }
    millis(quantile(&times, 0.5))
}
