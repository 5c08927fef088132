//! `tickwire train`: what the fields of a recorded game cost, and a prior that makes them cost less.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use tickwire_demo::recording::{NotTrained, Trained, train};
use tickwire_session::tap::Recording;

/// Show what each field of a recorded game costs, and fit a prior to it.
///
/// FILE is a recording of our own protocol, as `serve --record` and `play --record` write it. The table has the bits
/// of each field for a send and for an entity told, with the prior that fits any game and with one that was fitted to
/// this recording. With --out the latter is written to a file: a game names it as `Game::PRIOR`, on both sides.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The recording.
    file: PathBuf,

    /// Where the prior goes, at most 8 KiB.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let trained = show(&args.file)?;
    if let Some(out) = &args.out {
        let named = out.display();
        fs::write(out, &trained.prior).with_context(|| format!("{named} cannot be written"))?;
        println!("{} bytes in {named}", trained.prior.len());
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what each field of a recording costs.
pub(crate) fn show(file: &Path) -> anyhow::Result<Trained> {
    let path = file.display();
    let bytes = fs::read(file).with_context(|| format!("{path} cannot be read"))?;
    let recording = Recording::new(&bytes).with_context(|| format!("{path}"))?;
    let trained = match train(recording) {
        Ok(trained) => trained,
        Err(NotTrained::NotNative) => bail!("{path} is no recording of our own protocol"),
        Err(NotTrained::Empty) => bail!("{path} holds no send that is whole"),
        Err(NotTrained::Broken(error)) => return Err(error).with_context(|| format!("{path}")),
    };
    write_table(&trained, &mut io::stdout().lock())?;
    Ok(trained)
}

fn write_table(trained: &Trained, out: &mut impl Write) -> io::Result<()> {
    let Trained {
        rows,
        plain,
        sends,
        entities,
        ..
    } = trained;
    let a_send = |bits: f64| bits / *sends as f64;
    writeln!(
        out,
        "{sends} sends, {:.1} entities told in each; bits of a send, and of an entity told",
        a_send(*entities as f64)
    )?;
    writeln!(
        out,
        "{:32} {:>18} {:>18}",
        "", "any game's prior", "its own prior"
    )?;
    let mut write_row = |name: &str, general: f64, fitted: f64| {
        let [general, fitted] = [general, fitted].map(|bits| {
            format!(
                "{:9.1} {:8.2}",
                a_send(bits),
                bits / (*entities).max(1) as f64
            )
        });
        writeln!(out, "{name:32} {general} {fitted}")
    };
    let (mut general, mut fitted) = (*plain as f64, *plain as f64);
    for row in rows {
        let field = row.field.unwrap_or("(who came, went, changed)");
        write_row(&format!("{} {field}", row.thing), row.general, row.fitted)?;
        general += row.general;
        fitted += row.fitted;
    }
    write_row("newcomers, texts, jumps", *plain as f64, *plain as f64)?;
    write_row("all", general, fitted)
}

#[cfg(test)]
mod tests {
    use tickwire_demo::recording::Row;

    use super::*;

    #[test]
    fn the_table_sums_up() {
        let row = |field, general, fitted| Row {
            thing: "Ship".into(),
            field,
            general,
            fitted,
        };
        let trained = Trained {
            rows: vec![row(None, 100.0, 50.0), row(Some("at"), 500.0, 430.0)],
            plain: 20,
            sends: 10,
            entities: 40,
            prior: Vec::new(),
        };
        let mut out = Vec::new();
        write_table(&trained, &mut out).expect("a vector takes everything");
        let text = String::from_utf8(out).expect("text");
        let all = text.lines().last().expect("a line");
        let numbers: Vec<_> = all.split_whitespace().skip(1).collect();
        assert_eq!(numbers, ["62.0", "15.50", "50.0", "12.50"]);
    }
}
