//! Linker flags that add-ons need on some platforms.

fn main() {
    napi_build::setup();
    // `napi_build::setup` sets the linker flags only for the library. The example that tests/panics
    // loads is also an add-on, and needs the same flag.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        println!("cargo::rustc-link-arg-examples=-Wl,-undefined,dynamic_lookup");
    }
}
