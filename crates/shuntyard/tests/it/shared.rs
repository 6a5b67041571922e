//! The environment that most tests share, with one managed server.

use crate::own_env;
use shuntyard_testkit::TestEnv;
use std::sync::OnceLock;

pub fn env() -> &'static TestEnv {
    static ENV: OnceLock<TestEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        let env = own_env("shared");
        env.write_config(NO_MEMORY);
        env
    })
}

/// Nothing is remembered of failures: one test's failing provider must not keep the others away from it.
pub const NO_MEMORY: &str = "\
[availability]
health_ttl = \"none\"
limit_ttl = \"none\"
[fallback.cooldowns]
rate_limit = \"none\"
overloaded = \"none\"
timeout = \"none\"
api_error = \"none\"
auth_error = \"none\"
quota = \"none\"
";
