//! `shuntyard route` as a whole process with a warm copy, beside the same binary doing nothing.

use super::{texts::SHORT, world::World};
use crate::{
    figures::{Limits, millis, quantile, show},
    startup::time,
};

const RUNS: usize = 100;

#[derive(Debug)]
pub struct Case<'a> {
    pub name: &'static str,
    pub world: &'a World,
    /// What is asked for; without it the text is classified.
    pub model: Option<&'static str>,
    /// The limit of the ratio.
    pub most: f64,
}

pub fn measure(cases: &[Case<'_>], limits: &mut Limits) {
    let mut version = Vec::new();
    let mut routes = vec![Vec::new(); cases.len()];
    for _ in 0..RUNS {
        for (case, times) in cases.iter().zip(&mut routes) {
            version.push(time(&mut case.world.command(&["--version"])));
            let model = case.model.map(|model| ["--model", model]);
            let args = ["route", SHORT, "--json"].into_iter().chain(model.into_iter().flatten());
            times.push(time(&mut case.world.command(&args.collect::<Vec<_>>())));
        }
    }
    let version = millis(quantile(&version, 0.5));
    println!("the command `route` with a warm copy, {RUNS} runs each, alternating (p50)");
    show("shuntyard --version", version, "ms");
    for (case, times) in cases.iter().zip(&routes) {
        let route = millis(quantile(times, 0.5));
        show(case.name, route, "ms");
        limits.hold("  ratio", route / version, case.most, "x");
    }
}
