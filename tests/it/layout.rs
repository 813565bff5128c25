//! The linker script of release builds, which development builds leave out: the linkers that it is meant for take it, and
//! put a function that it names before all others.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

use std::path::Path;
use std::process::Command;

use crate::support::Place;

#[test]
fn both_linkers_take_the_layout() {
    let place = Place::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("benchmark/layout/program.ld")).unwrap();
    // One of the functions of the program itself, in an object file called as that of its package would be.
    let package = text.split_once("*.podium.*-cgu.*(\n").unwrap().1;
    let section = package.split_once('\n').unwrap().0.trim().replace('*', "x");
    let source = format!(
        "__attribute__((section(\".text.other\"))) int other(void) {{ return 1; }}\n\
         __attribute__((section(\"{section}\"))) int named(void) {{ return 41; }}\n\
         int main(void) {{ return named() + other() == 42 && (char *)named < (char *)other ? 0 : 1; }}\n"
    );
    let source = place.write("work/program.c", &source);
    let object = place.work().join("x.podium.0123456789abcdef-cgu.0.rcgu.o");
    run(Command::new("cc").arg("-c").arg(&source).arg("-o").arg(&object));
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap().stdout;
    let lld = Path::new(String::from_utf8(sysroot).unwrap().trim())
        .join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld");
    assert!(lld.is_dir(), "Rust brings no linker along: {}", lld.display());
    for linker in
        [vec!["-fuse-ld=bfd".to_owned()], vec![format!("-B{}", lld.display()), "-fuse-ld=lld".to_owned()]]
    {
        let program = place.work().join("program");
        let script = root.join("benchmark/layout/program.ld");
        run(Command::new("cc").args(&linker).arg(&object).arg("-T").arg(script).arg("-o").arg(&program));
        run(&mut Command::new(&program));
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
