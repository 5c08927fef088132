//! Where `tickwire_replica` is, seen from the crate that derives.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, LitStr, Path};

/// What `#[replicate(crate = "…")]` on the type says or else what the package depends on: the crate
/// itself, or `tickwire`, which re-exports it.
pub(crate) fn replica(attributes: &[Attribute]) -> syn::Result<TokenStream> {
    let mut said = None;
    for attribute in attributes.iter().filter(|a| a.path().is_ident("replicate")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error(
                    "on a type there is only `crate = \"path::to::tickwire_replica\"`; \
                     all else belongs to fields",
                ));
            }
            let path: LitStr = meta.value()?.parse()?;
            said = Some(path.parse::<Path>()?.into_token_stream());
            Ok(())
        })?;
    }
    Ok(said.unwrap_or_else(|| {
        let manifest = std::env::var_os("CARGO_MANIFEST_PATH")
            .and_then(|path| std::fs::read_to_string(path).ok())
            .unwrap_or_default();
        found_in(&manifest)
    }))
}

fn found_in(manifest: &str) -> TokenStream {
    if !names(manifest, "tickwire-replica") && names(manifest, "tickwire") {
        quote!(::tickwire::replica)
    } else {
        quote!(::tickwire_replica)
    }
}

/// Whether a manifest names a package, as itself or as a dependency.
///
/// Looked for in every line, since a dependency may stand in a dozen kinds of section; a wrong answer
/// is put right by the attribute.
fn names(manifest: &str, package: &str) -> bool {
    manifest.lines().any(|line| {
        let line = line.trim();
        let key = line.split(['=', '.', ' ']).next().unwrap_or(line);
        let section = line.trim_end_matches(']').rsplit('.').next();
        key == package
            || (line.starts_with('[') && section == Some(package))
            || (key == "name" && line.ends_with(&format!("\"{package}\"")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_found_in_every_form() {
        for form in [
            "[dependencies]\ntickwire = \"1\"",
            "[dependencies]\ntickwire.workspace = true",
            "[dependencies]\ntickwire={ path = \"..\" }",
            "[target.'cfg(unix)'.dependencies.tickwire]\nversion = \"1\"",
            "[package]\nname = \"tickwire\"",
        ] {
            let path = found_in(form).to_string();
            assert_eq!(path, ":: tickwire :: replica", "{form}");
            let path = found_in(&form.replace("tickwire", "tickwire-replica")).to_string();
            assert_eq!(path, ":: tickwire_replica", "{form}");
        }
        // The crate itself is nearer than what re-exports it.
        let both = "[dependencies]\ntickwire = \"1\"\ntickwire-replica = \"1\"";
        assert_eq!(found_in(both).to_string(), ":: tickwire_replica");
    }
}
