"""Looks for what another program may have planted. The interpreter's own folders are mounted where the host has them, so that
those and the way to them may show, wherever that is, and nothing beside them."""
import site

mounted = [path.rstrip("/") for path in GIVEN["mounted"]]
strange = []
for folder, folders, files in os.walk("/tmp"):
    for path in [os.path.join(folder, name) for name in folders + files]:
        if not any(kept == path or kept.startswith(path + "/") for kept in mounted):
            strange.append(path)
    folders[:] = [name for name in folders if os.path.join(folder, name) not in mounted]
print("clean", os.path.exists("/tmp/planted"), strange, os.listdir("input"))
