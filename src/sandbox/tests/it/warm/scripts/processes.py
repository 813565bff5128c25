"""Children of all kinds."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np


def square(x):
    return float(np.square(x))


def matrix(seed):
    a = np.random.RandomState(seed).rand(120, 120)
    return round(float((a @ a).sum()), 6)


if __name__ == "__main__":
    np.linalg.svd(np.ones((300, 300)))
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(5)), pool.map(matrix, range(3)))
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(square, range(5))))
    with ThreadPoolExecutor(2) as pool:
        print(list(pool.map(matrix, range(5))))
    queue = multiprocessing.Queue()
    child = multiprocessing.Process(target=queue.put, args=(os.getcwd(),))
    child.start()
    print(queue.get(), child.join(), child.exitcode, child.name)
    from joblib import Parallel, cpu_count, delayed

    print(cpu_count(), Parallel(n_jobs=2)(delayed(matrix)(i) for i in range(4)))
    print(Parallel(n_jobs=-1, backend="threading")(delayed(matrix)(i) for i in range(4)))
    print(Parallel(n_jobs=2, backend="multiprocessing")(delayed(square)(i) for i in range(4)))
    code = "import sys, os; print(sys.flags, sys.path, sorted(os.environ), sys.argv)"
    print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    print(subprocess.run(["sh", "-c", "echo $0 $PWD; nproc; ulimit -n"], capture_output=True, text=True).stdout)
    if os.fork() == 0:
        print(matrix(1))
        os._exit(0)
    print(os.wait()[1])
