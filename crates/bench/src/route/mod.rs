//! The choice of a model: the decision by itself over all that the public catalogue has, our copy of that catalogue,
//! and the whole command.

mod command;
mod copy;
mod decide;
mod texts;
mod world;

use crate::figures::Limits;
use world::World;

pub fn measure(program: &str, scratch: &str, limits: &mut Limits) {
    let public = World::with_public_catalogue(program, scratch);
    let everything = world::all_connected(public.copy("all"));
    decide::measure(&everything, limits);
    copy::measure(&public);
    let one = World::with_one_provider("route-one", program, scratch);
    let all = World::with_one_provider("route-all", program, scratch);
    all.replace_copy(&everything);
    command::measure(
        &[
            command::Case { name: "one provider", world: &one, model: None, most: 5.0 },
            command::Case {
                name: "one provider, the public catalogue known of",
                world: &public,
                model: None,
                most: 5.0,
            },
            command::Case { name: "the whole public catalogue connected", world: &all, model: None, most: 6.0 },
            command::Case { name: "  and every model of it scored", world: &all, model: Some("auto:code"), most: 8.0 },
        ],
        limits,
    );
    [public, one, all].into_iter().for_each(World::remove);
}
