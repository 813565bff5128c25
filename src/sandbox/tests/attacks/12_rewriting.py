"""Leaves processes behind that go on rewriting the submission."""
target = "submission/submission.csv"
with open(target, "w") as file:
    file.write("id,y\n0,0\n")
for child in range(3):
    if os.fork() == 0:
        os.setsid()
        number = 0
        while True:
            number += 1
            with open(target + str(child), "w") as file:
                file.write("id,y\n%d,%d\n" % (child, number))
            os.replace(target + str(child), target)
time.sleep(0.3)
print("left", flush=True)
