//! The mounts of granted graphics processors: their device nodes, the driver's libraries and what it tells of them.
//!
//! Everything is by name, so that a processor that is not granted has neither a node nor a line. Nothing of it can be
//! written but the nodes themselves.

use super::{arguments::Arguments, nodes::Nodes};
use crate::{SandboxError, gpu::GpuGrant};

/// Device nodes; to be added before `/dev` is sealed.
pub(super) fn nodes(arguments: &mut Arguments, grant: &GpuGrant, nodes: &Nodes) {
    for node in grant.nodes() {
        arguments.add("--dev-bind", [nodes.stand_in(node.source), node.target]);
    }
}

/// Libraries, and the driver's files below `/proc` and `/sys`; to be added before the root is sealed.
pub(super) fn driver(arguments: &mut Arguments, grant: &GpuGrant) -> Result<(), SandboxError> {
    if !grant.is_driver_there() {
        return Ok(());
    }
    for library in grant.libraries() {
        arguments.add("--ro-bind", [library.source, library.target]);
    }
    // Over the kernel's own folder, in which the driver tells of all processors there are; also where none is granted.
    arguments.add("--perms", ["0755"]);
    arguments.add("--size", ["65536"]);
    arguments.add("--tmpfs", ["/proc/driver"]);
    for told in grant.told() {
        arguments.add("--ro-bind", [told.source, told.target]);
    }
    if let Some(parameters) = grant.parameters() {
        arguments.file("/proc/driver/nvidia/params", &parameters)?;
    }
    arguments.add("--remount-ro", ["/proc/driver"]);
    for (path, text) in grant.bus() {
        arguments.file(&path, &text)?;
    }
    Ok(())
}
