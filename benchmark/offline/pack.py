"""Writes the two data archives of a competition, byte for byte the same on every run."""
import gzip
import hashlib
import io
import tarfile
from importlib import metadata
from pathlib import Path


def source_file(package, version, path):
    """A file inside an installed package (pip install --no-deps PACKAGE==VERSION), which need not be importable."""
    found = metadata.distribution(package)
    assert found.version == version, f"{package} {version} wanted, {found.version} installed"
    return Path(found.locate_file(path))


def salted_ids(count, salt, length=10):
    """Ids without any order: hashes of a salt and a running number."""
    ids = [hashlib.sha256(f"{salt}/{i}".encode()).hexdigest()[:length] for i in range(count)]
    assert len(set(ids)) == count, "ids collide: use a longer id"
    return ids


def csv(frame):
    return frame.to_csv(index=False, lineterminator="\n").encode()


def archive(path, files):
    """files: {flat name: bytes or data frame}. Sorted, time 0, owner 0."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            content = files[name] if isinstance(files[name], bytes) else csv(files[name])
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            tar.addfile(member, io.BytesIO(content))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=9, mtime=0) as out:
        out.write(raw.getvalue())
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(packed.getvalue())
    assert path.stat().st_size < 1_000_000, f"{path} is too large"


def write(folder, public, private):
    data = Path(folder) / "data"
    archive(data / "public.tar.gz", public)
    archive(data / "private.tar.gz", private)
    for path in sorted(data.iterdir()):
        print(path.name, path.stat().st_size, "bytes")
