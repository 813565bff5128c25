"""Installs a package from the index: there is none to be reached."""
import subprocess

result = subprocess.run([sys.executable, "-m", "pip", "install", "tinyhtml"], capture_output=True, text=True)
attempt("pip", lambda: "installed" if result.returncode == 0 else None)
print(result.stdout[-2000:], result.stderr[-2000:])
