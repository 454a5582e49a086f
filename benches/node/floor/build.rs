//! Linker flags that add-ons need on some platforms.

fn main() {
    napi_build::setup();
}
