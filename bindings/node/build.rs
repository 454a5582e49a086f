//! Linker flags that add-ons need on some platforms.

fn main() {
    napi_build::setup();
    // It sets them for the library alone, and what tests/panics loads is an add-on too.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        println!("cargo::rustc-link-arg-examples=-Wl,-undefined,dynamic_lookup");
    }
}
