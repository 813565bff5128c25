"""A submission that is far too large, in three ways."""
target = "submission/submission.csv"
case = GIVEN["case"]
with open(target, "wb") as file:
    if case == "sparse":
        file.truncate(50 << 30)
    elif case == "columns":
        file.write(b"id,y\n" + b"1," * 10_000_000)
    elif case == "field":
        file.write(b"id,y\n1,")
        file.truncate(1 << 30)
print("made", case)
