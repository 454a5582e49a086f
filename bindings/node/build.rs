//! Linker flags that add-ons need on some platforms.

fn main() {
    napi_build::setup();
    // `setup` sets the flags only for the library, but tests/panics loads an example that is also an
    // add-on.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        println!("cargo::rustc-link-arg-examples=-Wl,-undefined,dynamic_lookup");
    }
}
