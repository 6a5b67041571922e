use super::*;

const FILE: &str = "\
# My settings.
default_model = \"acme/careful\" # the good one

[dispatch]   # timers
# Long enough.
text_timeout   =   \"3m\"  # was 2m

[tiers]
house = [
    \"acme/swift\", # fast
]
";

fn changed(text: &str, key: &str, value: &str) -> Result<String, String> {
    set("config.toml", text, key, value).map(|change| change.text).map_err(|error| error.to_string())
}

#[test]
fn only_the_value_changes() {
    let table = [
        ("default_model", "p/m", "\"acme/careful\"", "\"p/m\""),
        ("dispatch.text_timeout", "none", "\"3m\"", "\"none\""),
        ("dispatch.agent_steps", "40", "\"3m\"  # was 2m\n", "\"3m\"  # was 2m\nagent_steps = 40\n"),
        ("tiers.house", "a/b", "[\n    \"acme/swift\", # fast\n]", "[\"a/b\"]"),
        ("tiers.\"my tier\"", "a/b,c/d", "fast\n]\n", "fast\n]\n\"my tier\" = [\"a/b\", \"c/d\"]\n"),
        ("budget.strict", "true", "fast\n]\n", "fast\n]\n\n[budget]\nstrict = true\n"),
        ("tier_order", "haiku", "the good one\n", "the good one\ntier_order = [\"haiku\"]\n"),
        ("repository.\"/a b\".setup", "npm ci", "fast\n]\n", "fast\n]\n\n[repository.\"/a b\"]\nsetup = \"npm ci\"\n"),
        ("fallback.cooldowns.quota", "2h", "fast\n]\n", "fast\n]\n\n[fallback.cooldowns]\nquota = \"2h\"\n"),
    ];
    for (key, value, from, to) in table {
        assert_eq!(changed(FILE, key, value), Ok(FILE.replace(from, to)), "{key}");
    }
}

#[test]
fn every_way_to_write_a_table_is_kept() {
    let table = [
        ("", "budget.strict", "true", "[budget]\nstrict = true\n"),
        ("# mine\n", "budget.strict", "true", "# mine\n\n[budget]\nstrict = true\n"),
        ("# mine", "default_model", "a/b", "# mine\n\ndefault_model = \"a/b\"\n"),
        ("budget.strict = true\n", "budget.strict", "false", "budget.strict = false\n"),
        ("budget.strict = true\n", "budget.stop_percent", "99", "budget.strict = true\nbudget.stop_percent = 99\n"),
        ("budget = { strict = true }\n", "budget.strict", "false", "budget = { strict = false }\n"),
        (
            "budget = { strict = true }\n",
            "budget.stop_percent",
            "99",
            "budget = { strict = true , stop_percent = 99 }\n",
        ),
        ("[budget]\r\nstrict = true # x\r\n", "budget.strict", "false", "[budget]\r\nstrict = false # x\r\n"),
        ("[dispatch]\ntext_timeout =  '5s'\n", "dispatch.text_timeout", "'5s'", "[dispatch]\ntext_timeout =  '5s'\n"),
    ];
    for (text, key, value, expected) in table {
        assert_eq!(changed(text, key, value), Ok(expected.to_owned()), "{text:?} {key}");
    }
}

#[test]
fn what_was_there_is_reported() {
    let change = set("config.toml", FILE, "dispatch.text_timeout", "5s").unwrap();
    assert_eq!((change.before.as_deref(), change.after.as_str()), (Some("\"3m\""), "\"5s\""));
    assert_eq!(set("config.toml", "", "dispatch.text_timeout", "5s").unwrap().before, None);
}

#[test]
fn what_would_not_be_accepted_is_refused() {
    let table = [
        (
            "",
            "dispatch.text_timout",
            "5s",
            "unknown setting `dispatch.text_timout`; did you mean `dispatch.text_timeout`?",
        ),
        ("", "text_timeout", "5s", "unknown setting `text_timeout`; did you mean `dispatch.text_timeout`?"),
        ("", "text_timeot", "5s", "config set: unknown setting `text_timeot`; did you mean `dispatch.text_timeout`?"),
        ("", "server.agent_stps", "5", "unknown setting `server.agent_stps`; did you mean `dispatch.agent_steps`?"),
        ("", "zzzzzz", "5", "config set: unknown setting `zzzzzz`"),
        ("", "dispatsh.text_timeout", "5s", "unknown setting `dispatsh`; did you mean `dispatch`?"),
        ("", "dispatch.text_timeout", "soon", "config set: `dispatch.text_timeout` `soon` is not a duration"),
        ("", "dispatch.agent_steps", "many", "config set: `dispatch.agent_steps` invalid type"),
        ("", "dispatch.agent_steps", "0", "config set: `dispatch.agent_steps` 0 is not between 1 and 100"),
        ("", "task_types.mine", "gold", "`gold` is no tier"),
        ("", "dispatch", "5s", "`dispatch` invalid type"),
        ("", "a..b", "5s", "`a..b` is not the path of a setting"),
        ("", "", "5s", "`` is not the path of a setting"),
        ("", "default_model = 1 #", "5s", "is not the path of a setting"),
        ("[workers.coder]\naccess = \"read\"\n", "workers.coder", "{}", "`workers.coder` is a section"),
        ("x = [", "budget.strict", "true", "config.toml is not valid TOML"),
        ("typo = 1\n", "budget.strict", "true", "config.toml:1: unknown setting `typo`"),
        ("tags = 1\n", "tags.fast.score", "cheap", "config.toml: `tags` is a value and not a section"),
        (
            "[supervise]\nmost = 2\nconcurrency = 2\n",
            "supervise.concurrency",
            "4",
            "`supervise.concurrency` 4 is not between 1 and 2",
        ),
    ];
    for (text, key, value, expected) in table {
        let found = changed(text, key, value).err().unwrap_or_default();
        assert!(found.contains(expected), "{text:?} {key} = {value}\n  gave {found}");
    }
}
