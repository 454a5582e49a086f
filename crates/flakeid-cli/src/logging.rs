//! The log of long-running commands, which is written to standard error.

use std::io;

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt;

/// The options of the log.
#[derive(Args)]
pub(crate) struct LogArgs {
    /// Format of the log on standard error
    #[arg(long, hide_short_help = true, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,

    /// Lowest level of messages to log
    #[arg(long, hide_short_help = true, value_name = "LEVEL", default_value = "info")]
    log_level: LogLevel,

    /// Also log each HTTP request
    #[arg(long, hide_short_help = true)]
    access_log: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Off,
}

impl LogArgs {
    pub(crate) const fn logs_access(&self) -> bool {
        self.access_log
    }

    /// Starts the log. A second call in the same process panics.
    pub(crate) fn start(&self) {
        let level = match self.log_level {
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Off => LevelFilter::OFF,
        };
        let log = fmt().with_max_level(level).with_writer(io::stderr);
        match self.log_format {
            LogFormat::Text => {
                let choice = anstream::AutoStream::choice(&io::stderr());
                log.with_ansi(choice != anstream::ColorChoice::Never).init();
            }
            LogFormat::Json => log.json().flatten_event(true).init(),
        }
    }
}
