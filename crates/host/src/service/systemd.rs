//! Units for systemd's manager of one user, and its output about them.

use super::{Instance, MARK, MINUTES, Manager, Service, Unsayable, Work, sayable};
use jiff::{fmt::strtime, tz::TimeZone};
use std::collections::BTreeMap;

/// The unit that is enabled and started; for a timer that is the timer.
#[must_use]
pub fn main_unit(work: Work, instance: &Instance) -> String {
    match work {
        Work::Supervise => service_unit(work, instance),
        Work::Pulse => format!("{}.timer", instance.name("shuntyard-pulse", '-')),
    }
}

/// The unit that runs the program.
#[must_use]
pub fn service_unit(work: Work, instance: &Instance) -> String {
    let base = match work {
        Work::Supervise => "shuntyard",
        Work::Pulse => "shuntyard-pulse",
    };
    format!("{}.service", instance.name(base, '-'))
}

/// The names of all files for this work.
#[must_use]
pub fn file_names(work: Work, instance: &Instance) -> Vec<String> {
    let mut names = vec![service_unit(work, instance)];
    if work == Work::Pulse {
        names.push(main_unit(work, instance));
    }
    names
}

/// The files with their texts, in the order of [`file_names`].
pub fn units(service: &Service) -> Result<Vec<(String, String)>, Unsayable> {
    let mut texts = vec![service_text(service)?];
    if service.work == Work::Pulse {
        texts.push(timer_text());
    }
    Ok(file_names(service.work, &service.instance).into_iter().zip(texts).collect())
}

fn service_text(service: &Service) -> Result<String, Unsayable> {
    // These are refused in the path of a program even when they are quoted.
    let program = sayable(Manager::Systemd, &service.program, &['"', '\'', '\\'])?;
    // A dollar sign means a variable in arguments, but not in the path of the program, where two of them stay two.
    let start = format!("ExecStart=\"{}\" {}\n", program.replace('%', "%%"), service.work.as_str());
    let mut environment = String::new();
    for (name, value) in &service.variables {
        let value = quoted(sayable(Manager::Systemd, value, &[])?);
        environment.push_str(&format!("Environment=\"{name}={value}\"\n"));
    }
    let (description, how, install) = match service.work {
        Work::Supervise => (
            "Shuntyard: sees queued tasks through",
            "Type=simple\nRestart=on-failure\nRestartSec=30\n",
            "\n[Install]\nWantedBy=default.target\n",
        ),
        Work::Pulse => ("Shuntyard: one pass over the queued tasks", "Type=oneshot\n", ""),
    };
    Ok(format!(
        "# {MARK}\n[Unit]\nDescription={description}\n\n[Service]\n{how}{start}{environment}\
         # Workers and servers are processes of their own, which outlive what started them.\n\
         KillMode=process\n{install}"
    ))
}

fn timer_text() -> String {
    // By itself systemd may be a minute late to save power, which is half of the interval.
    format!(
        "# {MARK}\n[Unit]\nDescription=Shuntyard: a pass every {MINUTES} minutes\n\n\
         [Timer]\nOnCalendar=*:0/{MINUTES}\nAccuracySec=5s\n\n[Install]\nWantedBy=timers.target\n"
    )
}

/// For the inside of double quotes: escapes as in C, and specifiers that begin with a percent sign.
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}

/// The lines `Name=Value` of `systemctl show`, without those that have no value.
#[must_use]
pub fn properties(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.split_once('=')).filter(|(_, value)| !value.is_empty()).collect()
}

/// A moment as `systemctl show` writes it with `TZ=UTC`, in microseconds; none when it is not known.
#[must_use]
pub fn moment(text: &str) -> Option<i64> {
    let parsed = strtime::parse("%a %Y-%m-%d %H:%M:%S UTC", text).ok()?;
    Some(parsed.to_datetime().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_supervisor_is_a_service() {
        let expected = r#"# made by `shuntyard service install`; `shuntyard service uninstall` removes it
[Unit]
Description=Shuntyard: sees queued tasks through

[Service]
Type=simple
Restart=on-failure
RestartSec=30
ExecStart="/opt/bin/shuntyard" supervise
Environment="HOME=/home/ann"
Environment="PATH=/opt/50%% off:/usr/bin"
# Workers and servers are processes of their own, which outlive what started them.
KillMode=process

[Install]
WantedBy=default.target
"#;
        let made = units(&sample("/opt/bin/shuntyard", Work::Supervise)).unwrap();
        assert_eq!(made, [("shuntyard.service".to_owned(), expected.to_owned())]);
    }

    #[test]
    fn a_pulse_is_a_timer_with_a_service() {
        let made = units(&sample("/opt/bin/shuntyard", Work::Pulse)).unwrap();
        let timer = "# made by `shuntyard service install`; `shuntyard service uninstall` removes it
[Unit]
Description=Shuntyard: a pass every 2 minutes

[Timer]
OnCalendar=*:0/2
AccuracySec=5s

[Install]
WantedBy=timers.target
";
        assert_eq!((made[1].0.as_str(), made[1].1.as_str()), ("shuntyard-pulse.timer", timer));
        let (name, service) = &made[0];
        assert_eq!(name, "shuntyard-pulse.service");
        assert!(service.contains("Type=oneshot\nExecStart=\"/opt/bin/shuntyard\" pulse\n"), "{service}");
        assert!(service.contains("KillMode=process\n") && !service.contains("[Install]"), "{service}");
    }

    #[test]
    fn odd_paths_are_written_as_systemd_reads_them() {
        let line = |program: &str, start: &str| {
            let made = units(&sample(program, Work::Supervise)).map(|units| units[0].1.clone())?;
            Ok(made.lines().find(|line| line.starts_with(start)).unwrap().to_owned())
        };
        let table = [
            ("/a b/shuntyard", r#"ExecStart="/a b/shuntyard" supervise"#),
            ("/50%h/shuntyard", r#"ExecStart="/50%%h/shuntyard" supervise"#),
            ("/a$b;c/shuntyard", r#"ExecStart="/a$b;c/shuntyard" supervise"#),
        ];
        for (program, expected) in table {
            assert_eq!(line(program, "ExecStart"), Ok(expected.to_owned()), "{program}");
        }
        for program in ["/a\"b", "/a'b", "/a\\b", "/a\nExecStart=/bin/sh"] {
            let value = program.to_owned();
            assert_eq!(line(program, "ExecStart"), Err(Unsayable { manager: Manager::Systemd, value }));
        }
        let mut service = sample("/s", Work::Pulse);
        service.variables = vec![("HOME".into(), r#"/a "b" c\d $e 5%"#.into())];
        assert!(units(&service).unwrap()[0].1.contains("Environment=\"HOME=/a \\\"b\\\" c\\\\d $e 5%%\"\n"));
        service.variables[0].1 = "/a\nb".into();
        assert!(units(&service).is_err());
    }

    #[test]
    fn instances_have_names_of_their_own() {
        let two = Instance::of("/srv/two".as_ref(), "/home/ann".as_ref());
        let suffix = two.suffix().unwrap();
        assert_eq!(main_unit(Work::Supervise, &two), format!("shuntyard-{suffix}.service"));
        let expected = [format!("shuntyard-pulse-{suffix}.service"), format!("shuntyard-pulse-{suffix}.timer")];
        assert_eq!(file_names(Work::Pulse, &two), expected);
    }

    #[test]
    fn what_systemd_says_is_read() {
        let said = properties("ActiveState=active\nMainPID=0\nLastTriggerUSec=\nResult=a=b\nodd\n");
        assert_eq!(
            said.into_iter().collect::<Vec<_>>(),
            [("ActiveState", "active"), ("MainPID", "0"), ("Result", "a=b")]
        );
        assert_eq!(moment("Sun 2026-02-01 14:30:00 UTC"), Some(1_769_956_200_000_000));
        for text in ["", "n/a", "0", "Sun 2026-02-01 14:30:00 CET"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
