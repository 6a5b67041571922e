//! A property list for macOS's launchd, and its output about a job.

use super::{Instance, MARK, MINUTES, Manager, Service, Unsayable, Work, sayable};

#[must_use]
pub fn label(instance: &Instance) -> String {
    instance.name("shuntyard.supervisor", '.')
}

/// Where jobs of this user live while the user is logged in.
#[must_use]
pub fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

pub fn property_list(service: &Service) -> Result<String, Unsayable> {
    let mut variables = String::new();
    for (name, value) in &service.variables {
        variables.push_str(&format!("    <key>{name}</key>\n    <string>{}</string>\n", escaped(value)?));
    }
    let when = match service.work {
        Work::Supervise => "  <key>RunAtLoad</key>\n  <true/>\n  \
             <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n"
            .to_owned(),
        Work::Pulse => format!("  <key>StartInterval</key>\n  <integer>{}</integer>\n", MINUTES * 60),
    };
    Ok(format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- {MARK} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{label}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{program}</string>
    <string>{work}</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
{variables}  </dict>
  <key>WorkingDirectory</key>
  <string>{home}</string>
{when}  <key>AbandonProcessGroup</key>
  <true/>
  <key>StandardOutPath</key>
  <string>/dev/null</string>
  <key>StandardErrorPath</key>
  <string>{log}</string>
</dict>
</plist>
"#,
        label = label(&service.instance),
        program = escaped(&service.program)?,
        work = service.work.as_str(),
        home = escaped(&service.home)?,
        log = escaped(&service.log)?,
    ))
}

fn escaped(value: &str) -> Result<String, Unsayable> {
    let value = sayable(Manager::Launchd, value, &['\u{fffe}', '\u{ffff}'])?;
    Ok(value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

/// The output of `launchctl print` about a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    pub state: Option<String>,
    pub pid: Option<u32>,
    pub last_exit: Option<String>,
}

/// Reads the lines of the job itself, which are indented once; deeper ones belong to other things.
#[must_use]
pub fn printed(text: &str) -> Printed {
    let value = |name: &str| {
        let lines = text.lines().filter_map(|line| line.strip_prefix('\t')?.split_once(" = "));
        lines.filter(|(key, _)| *key == name).map(|(_, value)| value.trim().to_owned()).next()
    };
    Printed {
        state: value("state"),
        pid: value("pid").and_then(|pid| pid.parse().ok()),
        last_exit: value("last exit code").filter(|code| !code.starts_with('(')),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_supervisor_is_kept_alive() {
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- made by `shuntyard service install`; `shuntyard service uninstall` removes it -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>shuntyard.supervisor</string>
  <key>ProgramArguments</key>
  <array>
    <string>/a b/&lt;R&amp;D&gt; 50%/"shuntyard"</string>
    <string>supervise</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>HOME</key>
    <string>/home/ann</string>
    <key>PATH</key>
    <string>/opt/50% off:/usr/bin</string>
  </dict>
  <key>WorkingDirectory</key>
  <string>/home/ann</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>StandardOutPath</key>
  <string>/dev/null</string>
  <key>StandardErrorPath</key>
  <string>/home/ann/.local/share/shuntyard/service.log</string>
</dict>
</plist>
"#;
        let made = property_list(&sample("/a b/<R&D> 50%/\"shuntyard\"", Work::Supervise));
        assert_eq!(made.unwrap(), expected);
    }

    #[test]
    fn a_pulse_comes_every_two_minutes() {
        let mut service = sample("/s", Work::Pulse);
        service.instance = Instance::of("/srv/two".as_ref(), "/home/ann".as_ref());
        let made = property_list(&service).unwrap();
        let interval = "  <key>StartInterval</key>\n  <integer>120</integer>\n";
        assert!(made.contains(interval) && made.contains("<string>pulse</string>"), "{made}");
        assert!(!made.contains("KeepAlive") && !made.contains("RunAtLoad"), "{made}");
        assert!(
            made.contains(&format!("<string>shuntyard.supervisor.{}</string>", service.instance.suffix().unwrap()))
        );
        service.log = "/a\u{1}b".into();
        assert!(property_list(&service).is_err());
    }

    #[test]
    fn what_launchd_says_is_read() {
        let text = "gui/501/shuntyard.supervisor = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 512\n\
                    \tendpoints = {\n\t\tstate = odd\n\t\tpid = 9\n\t}\n\tlast exit code = 1\n}\n";
        let expected = Printed { state: Some("running".into()), pid: Some(512), last_exit: Some("1".into()) };
        assert_eq!(printed(text), expected);
        assert_eq!(printed("\tstate = not running\n\tlast exit code = (never exited)\n").last_exit, None);
        assert_eq!(printed(""), Printed::default());
    }
}
